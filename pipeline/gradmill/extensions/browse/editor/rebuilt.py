"""The cost of an edit: how many units depend on each entry, and which of them a run would rebuild.

A run would rebuild the units with a row that was replaced since the last run; `Trail` maps them to the edited entries.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.explain import replaced
from gradmill.query.memo import ITEM
from gradmill.reports.trail import Trail, row
from gradmill.specs.spec_set import ROLES
from gradmill.stages.emit import text
from gradmill.stages.specs import keys_of, lines
from gradmill.stages.units import from_entries, unit


class Cost(Struct, frozen=True):
    """An entry: its line, how many units depend on it, and which units a run would rebuild because of it."""

    entry: str
    line: int  # counted from 1
    units: int
    rebuilt: tuple[str, ...] | None  # None if the entry was not edited since the last run


def costs(db: Database, role: Role, key: str) -> list[Cost]:
    """The costs of all entries in one file of a role. `key` is the file's key in the set."""
    edited = edits(db)
    counts = from_entries(db)
    keys = keys_of(db, role)
    return [
        Cost(entry, line, counts.get(f"{role} {entry}", 0), edited.get((role, entry)))
        for entry, line in lines(db, role).items()
        if keys.get(entry) == key
    ]


def edits(db: Database) -> dict[tuple[Role, str], tuple[str, ...]]:
    """The units that would be rebuilt, for each entry that changed since the last run."""
    trail = Trail(db)
    titles: dict[tuple[Role, str], list[str]] = {(role, entry): [] for role in ROLES for entry in trail.edits[role]}
    for _, family, name in replaced(db, text):
        rebuilt = unit(db, family, name)
        if rebuilt is None:
            continue
        for end in trail.causes(row(text, family, name)):
            if end[0] == ITEM:
                titles.setdefault((end[2], end[3]), []).append(rebuilt.title)
    return {at: tuple(names) for at, names in titles.items()}
