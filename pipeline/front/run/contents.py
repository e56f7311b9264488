"""What a build makes: units and generated files, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.model.units import Unit
    from pipeline.query.database import Database

At = tuple[str, str]  # a unit by its family and its name


def units(db: Database) -> dict[str, tuple[str, Unit]]:
    """The units of all families with the names of these, by what people call them."""
    from pipeline.model.entries import numbered
    from pipeline.stages import units as stage

    found = [(family, unit) for family in stage.families(db) for unit in stage.units(db, family)]
    return dict(zip(numbered(unit.title for _, unit in found), found))


def schemas_of(db: Database, units: Mapping[str, tuple[str, Unit]]) -> dict[str, str]:
    """The schemas of units, by what people call these."""
    from pipeline.stages import units as stage

    return dict(zip(units, stage.schemas_of(db, [unit for _, unit in units.values()])))


def count_of_units(db: Database) -> int:
    """How many units there are."""
    from pipeline.stages.units import unit_titles

    return unit_titles(db).count


def file_names(db: Database, arrangement: tuple[str, int]) -> list[str]:
    """The names of the generated files."""
    from pipeline.stages.shard import files

    return db.names(files, *arrangement)
