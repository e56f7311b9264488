"""The helpers that formulas may call: those that the set's headers declare, and where."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pipeline.query.database import Database
from pipeline.releases.names import names_of
from pipeline.stages.formulas.vocabulary import declarations
from pipeline.stages.set import RELEASE, spec_set


class Helper(Struct, frozen=True):
    """A declaration of a function that formulas may call."""

    name: str
    header: str  # as the set calls it
    line: int  # counted from 1
    text: str


def declared(db: Database, name: str) -> list[Helper]:
    """The declarations of a helper."""
    return [
        Helper(name, header, line, f"{text.removeprefix('TORCH_API ')};")
        for header in spec_set(db).headers
        for line, text in declarations(db, header).get(name, ())
    ]


def all_names(db: Database) -> Iterator[tuple[str, str]]:
    """All helpers, each with a declaration; without one those of the release, where the set has no headers."""
    headers = spec_set(db).headers
    for header in headers:
        for name, found in declarations(db, header).items():
            yield name, f"{found[0][1].removeprefix('TORCH_API ')};"
    if not headers:
        yield from ((name, "") for name in names_of((db.input(RELEASE) or b"").decode()).helpers)
