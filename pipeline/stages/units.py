"""The units of every family: which there are, and from which entry each is. Reads functions and the index of Nodes."""

from pipeline.families.family import Family
from pipeline.families.table import FAMILIES
from pipeline.model.native import FunctionNames
from pipeline.model.nodes import NodeRow
from pipeline.model.units import Unit
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.rules.native.heads import names_of
from pipeline.stages.layered.taking import participants
from pipeline.stages.match import kernels, node, nodes
from pipeline.stages.schemas import (
    GENERATED,
    all_heads,
    entry_of,
    function,
    generated_groups,
    generated_heads,
    groups,
    heads,
)
from pipeline.stages.set import asked, asked_families, families_described, own_templates, release, spec_set


def families(db: Database) -> list[str]:
    """The families that are asked for, of those that the spec set has templates for."""
    wanted = asked_families(db) or families_described(db) or FAMILIES
    found = [name for name in FAMILIES if name in wanted and _has_templates(db, name)]
    return found if asked(db).files else [name for name in found if FAMILIES[name].unit != "graph"]


def _has_templates(db: Database, family: str) -> bool:
    needs = FAMILIES[family].needs
    return not needs or needs in spec_set(db).templates or bool(own_templates(db, family))


@query
def units(db: Database, family: str) -> list[Unit]:
    """All units of a family, in the order in which they are printed."""
    found = _all_units(db, family)
    if family not in release(db).dressed:
        return found
    from pipeline.stages.layered.asking import about_unit, rules_of

    of = rules_of(db, family).functions
    taken = {name for name, _ in participants(db)}
    kind = FAMILIES[family].unit
    return [unit for unit in found if (kind == "Node" or unit.function in taken) and about_unit(db, unit).holds(of)]


def _all_units(db: Database, family: str) -> list[Unit]:
    kind = FAMILIES[family]
    if kind.unit == "graph":
        from pipeline.stages.graphs import all_names  # much code, for those who have graphs

        return [_graph(db, file, name) for file, name in all_names(db)]
    if kind.unit == "Node":
        return [_node(name, row) for name, row in nodes(db)]
    if kind.unit == "kernel":
        heads_of, facts = dict(all_heads(db)), release(db)
        found = ((name, heads_of[name]) for name in db.names(kernels))
        return [_function(kind, name, head) for name, head in found if kind.selects(head, facts)]
    return [unit for group in (*db.names(groups), *db.names(generated_groups)) for unit in selected(db, family, group)]


def unit(db: Database, family: str, name: str) -> Unit | None:
    """A unit by its name."""
    if FAMILIES[family].unit == "Node":
        row = node(db, name)
        return None if row is None else _node(name, row)
    if FAMILIES[family].unit == "graph":
        return _graph(db, *name.rsplit(":", 1))
    native = function(db, name)
    return None if native is None else _function(FAMILIES[family], name, names_of(native))


@query
def selected(db: Database, family: str, group: str) -> list[Unit]:
    """The functions of a group that are units of a family."""
    listed = generated_heads(db, group) if group.startswith(GENERATED) else heads(db, group)
    kind, facts = FAMILIES[family], release(db)
    return [_function(kind, name, head) for name, head in listed if kind.selects(head, facts)]


def _function(kind: Family, name: str, of: FunctionNames) -> Unit:
    return Unit(name, kind.titled(of), getattr(of, kind.shards_by), of.schema, "native", entry_of(name), function=name)


def _graph(db: Database, file: str, name: str) -> Unit:
    from pipeline.stages.graphs import signature, stem

    return Unit(f"{file}:{name}", name, stem(file), signature(db, file, name), "graph", name, function="")


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
