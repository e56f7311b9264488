"""The units of a build, by title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradmill.model.units import Unit
    from gradmill.query.database import Database

At = tuple[str, str]  # a unit: its family and its name

_MANY = 64  # looking up so many units one by one takes as long as listing all


def all_units(db: Database) -> list[tuple[str, Unit]]:
    """The units of all families, each with the name of its family, in the order in which they are printed."""
    from gradmill.stages.requested import families
    from gradmill.stages.units import units as units_of

    return [(family, unit) for family in families(db) for unit in units_of(db, family)]


def units(db: Database) -> dict[str, tuple[str, Unit]]:
    """All units, by title; equal titles are numbered."""
    from gradmill.model.entries import numbered

    listed = all_units(db)
    return dict(zip(numbered(unit.title for _, unit in listed), listed))


def titles_of(db: Database, wanted: Sequence[At]) -> list[str]:
    """The titles of some units, numbered as in `units`."""
    from gradmill.stages.units import unit, unit_titles

    found, shared = [unit(db, *at) for at in wanted[:_MANY]], unit_titles(db).shared
    if len(wanted) > _MANY or any(each is not None and each.title in shared for each in found):
        titles = {(family, each.name): title for title, (family, each) in units(db).items()}
        return [titles.get(at, at[1]) for at in wanted]
    return [at[1] if each is None else each.title for at, each in zip(wanted, found)]


def schemas_of(db: Database, units: Mapping[str, tuple[str, Unit]]) -> dict[str, str]:
    """The schemas of units, by title; "" for a unit without one."""
    from gradmill.stages import units as stage

    return dict(zip(units, stage.schemas_of(db, units.values())))
