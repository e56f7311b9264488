"""The units of every family: which there are, and from which entry each is. Reads functions and the index of Nodes."""

from __future__ import annotations

from pipeline.families.table import FAMILIES
from pipeline.model.nodes import NodeRow
from pipeline.model.units import Unit
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.stages.match import nodes
from pipeline.stages.schemas import function, generated, generated_groups, groups
from pipeline.stages.set import spec_set


def families(db: Database) -> list[str]:
    """The families that the spec set has templates for."""
    templates = spec_set(db).templates
    return [name for name, family in FAMILIES.items() if not family.needs or family.needs in templates]


@query
def units(db: Database, family: str) -> list[Unit]:
    """All units of a family, in the order in which they are printed."""
    if FAMILIES[family].unit == "Node":
        return [_node(name, row) for name, row in nodes(db)]
    return [unit for group in (*db.names(groups), *db.names(generated_groups)) for unit in selected(db, family, group)]


@table
def unit(db: Database, family: str) -> dict[str, Unit]:
    """The units of a family by name."""
    return {found.name: found for found in units(db, family)}


@query
def selected(db: Database, family: str, group: str) -> list[Unit]:
    """The functions of a group that are units of a family."""
    made = generated_groups.item(db, group)
    found = []
    for name in made if made is not None else groups.item(db, group) or ():
        native = function(db, name)
        if native is not None and FAMILIES[family].selects(native):
            origin = generated.item(db, name) if made is not None else None
            operator = str(native.func.name)
            entry = name if origin is None else origin.base
            found.append(Unit(name, operator, operator, str(native.func), "native", entry, function=name))
    return found


def _node(name: str, row: NodeRow) -> Unit:
    return Unit(
        name,
        row.node or "",
        row.operator,
        row.schema,
        "derivatives",
        row.definition,
        row.dispatch_key,
        row.synthesized,
        row.function,
    )
