"""The cost of an edit: how many units depend on each entry, and which of them a run would rebuild.

A run would rebuild the units with a row that was replaced since the last run; `Trail` maps them to the edited entries.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.families.family import DERIVATIVES, OUTPUTS, REVERSE
from gradmill.families.table import FAMILIES
from gradmill.model.units import Unit
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.explain import replaced
from gradmill.query.memo import ITEM
from gradmill.query.query import unkept
from gradmill.reports.trail import Trail, row
from gradmill.specs.spec_set import ROLES
from gradmill.stages.emit import text
from gradmill.stages.infos import keyed
from gradmill.stages.match import all_pairs, nodes
from gradmill.stages.python_names import called
from gradmill.stages.requested import families
from gradmill.stages.schemas import entry_of
from gradmill.stages.set import release
from gradmill.stages.specs import keys_of, lines
from gradmill.stages.units import unit, units


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


@unkept
def from_entries(db: Database) -> dict[str, int]:
    """The number of units per entry, by role and entry: for a schema the units of its function, for a definition its
    Nodes and all units that print its formulas, for a deprecated form the bindings that parse it."""
    counts: dict[str, int] = {}
    definitions = _definitions(db)
    for family in families(db):
        kind = FAMILIES[family]
        for each in units(db, family):
            natives = {entry_of(name) for name in each.functions or [each.function] if name}
            defined = {each.entry} if kind.unit == "Node" else definitions.get(each.function, set())
            if kind.subject == OUTPUTS and release(db).viewed(each.overload.partition(".")[0]) is None:
                defined = set()
            defined = defined if kind.subject in (REVERSE, DERIVATIVES, OUTPUTS) else set()
            forms = _forms(db, each) if "deprecated" in kind.row.reads else set()
            by_role = {"native": natives, "derivatives": defined, "deprecated": forms}
            for entry in (f"{role} {name}" for role, names in by_role.items() for name in names):
                counts[entry] = counts.get(entry, 0) + 1
    return counts


def _definitions(db: Database) -> dict[str, set[str]]:
    """The definitions that serve each function."""
    rows = {keyed(row.function, row.dispatch_key): row.definition for _, row in nodes(db)}
    return {
        pair.function: {rows[at] for key, name in (pair.source or {}).items() if (at := keyed(name, key)) in rows}
        for pair in all_pairs(db)
    }


def _forms(db: Database, unit: Unit) -> set[str]:
    """The entries of the deprecated forms that a binding parses."""
    return {form for function_, form in called(db, unit.overload) if function_ in unit.functions}


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
