"""What an edit costs: for each entry the units that are made from it, and those that a run would make again.

The latter are what `explain` tells: units whose row was replaced since the last run, and the entries that are why.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pipeline.problems.problem import Role
from pipeline.query.database import Database
from pipeline.query.row import ITEM
from pipeline.reports.trail import Trail, row
from pipeline.specs.spec_set import ROLES
from pipeline.stages.emit import text
from pipeline.stages.specs import keys_of, lines
from pipeline.stages.units import from_entries, unit


class Cost(Struct, frozen=True):
    """An entry: where it starts, how many units are made from it, and which ones a run would make again."""

    entry: str
    line: int  # counted from 1
    made: int
    again: tuple[str, ...] | None  # None where it was not edited since the last run


def costs(db: Database, role: Role, key: str) -> list[Cost]:
    """The costs of all entries of one file of a role; `key` is what it goes by in the set."""
    edited = edits(db)
    counts = from_entries(db)
    where = keys_of(db, role)
    return [
        Cost(entry, line, counts.get(f"{role} {entry}", 0), edited.get((role, entry)))
        for entry, line in lines(db, role).items()
        if where.get(entry) == key
    ]


def edits(db: Database) -> dict[tuple[Role, str], tuple[str, ...]]:
    """By entry that changed since the last run: the units that would be made again for it."""
    trail = Trail(db)
    found: dict[tuple[Role, str], list[str]] = {(role, entry): [] for role in ROLES for entry in trail.edits[role]}
    for family, name in _replaced(db):
        made = unit(db, family, name)
        if made is None:
            continue
        for end in trail.causes(row(text, family, name)):
            if end[0] == ITEM:
                found.setdefault((end[2], end[3]), []).append(made.title)
    return {at: tuple(titles) for at, titles in found.items()}


def _replaced(db: Database) -> Iterable[tuple[str, str]]:
    """The units whose row was replaced, by family and name."""
    rows = (db.rows.numbered(id_) for id_ in list(db.before))
    return [(found.name[1], found.name[2]) for found in rows if found is not None and found.name[0] == text.name]
