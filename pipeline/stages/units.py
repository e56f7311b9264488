"""The units of every family: which there are, and from which entry each is. Reads functions and the index of Nodes."""

from __future__ import annotations

from pipeline.families.table import FAMILIES
from pipeline.model.native import NativeFunction
from pipeline.model.nodes import NodeRow
from pipeline.model.units import Unit
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.stages.match import node, nodes
from pipeline.stages.schemas import GENERATED, function, generated, generated_groups, groups
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


def unit(db: Database, family: str, name: str) -> Unit | None:
    """A unit by its name."""
    if FAMILIES[family].unit == "Node":
        row = node(db, name)
        return None if row is None else _node(name, row)
    native = function(db, name)
    return None if native is None else _function(db, name, native)


@query
def selected(db: Database, family: str, group: str) -> list[Unit]:
    """The functions of a group that are units of a family."""
    members = (generated_groups if group.startswith(GENERATED) else groups).item(db, group)
    found = ((name, function(db, name)) for name in members or ())
    return [_function(db, name, native) for name, native in found if native and FAMILIES[family].selects(native)]


def _function(db: Database, name: str, native: NativeFunction) -> Unit:
    origin = generated.item(db, name) if name.startswith(GENERATED) else None
    operator = str(native.func.name)
    entry = name if origin is None else origin.base
    return Unit(name, operator, operator, str(native.func), "native", entry, function=name)


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
