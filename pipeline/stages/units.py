"""The units of every family: which there are, and from which entry each is. Reads functions and the index of Nodes."""

from pipeline.families.table import FAMILIES
from pipeline.model.nodes import NodeRow
from pipeline.model.units import Unit
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.stages.match import node, nodes
from pipeline.stages.schemas import GENERATED, entry_of, function, generated_groups, generated_heads, groups, heads
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
    return None if native is None else _function(name, str(native.func))


@query
def selected(db: Database, family: str, group: str) -> list[Unit]:
    """The functions of a group that are units of a family."""
    listed = generated_heads(db, group) if group.startswith(GENERATED) else heads(db, group)
    return [_function(name, head.schema) for name, head in listed if FAMILIES[family].selects(head)]


def _function(name: str, schema: str) -> Unit:
    operator = schema.partition("(")[0]
    return Unit(name, operator, operator, schema, "native", entry_of(name), function=name)


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
