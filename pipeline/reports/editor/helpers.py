"""The helpers that formulas may call, and their declarations in the set's headers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pipeline.query.database import Database
from pipeline.rules.derivatives.calls import counted
from pipeline.stages.formulas.vocabulary import declarations, helpers_of_release
from pipeline.stages.set import spec_set


class Helper(Struct, frozen=True):
    """A declaration of a helper in a header."""

    name: str
    header: str  # its name in the set
    line: int  # counted from 1
    text: str


def declared(db: Database, name: str) -> list[Helper]:
    """All declarations of the helper `name`."""
    return [
        Helper(name, header, line, f"{text.removeprefix('TORCH_API ')};")
        for header in spec_set(db).headers
        for line, text in declarations(db, header).get(name, ())
    ]


def all_names(db: Database) -> Iterator[tuple[str, str]]:
    """All helpers: each with its first declaration, or with its number of arguments if no header of the set declares
    it and the release's table does."""
    texts: dict[str, str] = {}
    for header in spec_set(db).headers:
        for name, each in declarations(db, header).items():
            texts.setdefault(name, f"{each[0][1].removeprefix('TORCH_API ')};")
    for name, arity in helpers_of_release(db).items():
        texts.setdefault(name, f"takes {counted(*arity)}")
    yield from texts.items()
