"""The helpers that formulas may call, and their declarations in the set's headers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gradmill.lints.calls import counted
from gradmill.model.entries import by_key
from gradmill.query.database import Database
from gradmill.specs.headers import MANUAL
from gradmill.stages.formulas.vocabulary import declarations, helpers_of_release
from gradmill.stages.set import spec_set


class Helper(Struct, frozen=True):
    """A declaration of a helper in a header, or its row in the release's table."""

    name: str
    header: str  # its name in the set; "" of a row
    line: int  # counted from 1
    text: str  # of a row: its number of arguments

    @property
    def source(self) -> str:
        """Its place and its text."""
        return f"{self.header}:{self.line} {self.text}" if self.header else f"{MANUAL} of the release, {self.text}"


def all_declared(db: Database) -> Iterator[Helper]:
    """All declarations of helpers in the headers of the set, header by header."""
    for header in spec_set(db).headers:
        for name, each in declarations(db, header).items():
            yield from (Helper(name, header, line, f"{text.removeprefix('TORCH_API ')};") for line, text in each)


def declared(db: Database, name: str) -> list[Helper]:
    """All declarations of the helper `name`."""
    return [each for each in all_declared(db) if each.name == name]


def all_helpers(db: Database) -> dict[str, list[Helper]]:
    """All helpers by name: the declarations of each, or its row in the release's table if no header declares it."""
    named = by_key((each.name, each) for each in all_declared(db))
    for name, arity in helpers_of_release(db).items():
        named.setdefault(name, [Helper(name, "", 0, f"takes {counted(*arity)}")])
    return named


def declared_at_line(db: Database, header: str, line: int) -> list[str]:
    """The helpers that a header of the set declares at a line."""
    return [name for name, each in declarations(db, header).items() if any(at == line for at, _ in each)]
