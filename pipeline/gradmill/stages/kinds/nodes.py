"""Nodes, in the order of the definitions."""

from gradmill.families.family import Family
from gradmill.model.nodes import NodeRow
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.match import node, nodes


def listed(db: Database, family: Family) -> list[Unit]:
    """All Nodes."""
    return [_unit(name, row) for name, row in nodes(db)]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A Node by its name."""
    row = node(db, name)
    return None if row is None else _unit(name, row)


def _unit(name: str, row: NodeRow) -> Unit:
    return Unit(
        name,
        title=row.node or "",
        shard_key=row.operator,
        overload=row.op,
        role="derivatives",
        entry=row.definition,
        dispatch_key=row.dispatch_key,
        synthesized=row.synthesized,
        function=row.function,
    )


KIND = Kind(listed, named)
