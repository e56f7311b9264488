"""What there is to say of one operator. Reads the rows of its functions, and of others only where they are."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.families.nodes.files import NODES
from pipeline.model.autograd import Info
from pipeline.model.entries import grouped
from pipeline.model.native import NativeFunction
from pipeline.model.nodes import NodeRow
from pipeline.model.schema import schema_kind
from pipeline.problems.problem import Role
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.reports.coverage import Row, is_missing, row_of
from pipeline.reports.page.model import (
    Derivative,
    Formula,
    Function,
    Operator,
    Ref,
    Relations,
    Saved,
    Source,
    Summary,
    Unit,
)
from pipeline.reports.page.names import entry_anchor, node_anchor, source_page
from pipeline.reports.page.relations import (
    NOT_DIFFERENTIATED,
    keys_of,
    members,
    placed,
    ref,
    relations,
    shown_families,
    written,
)
from pipeline.reports.page.steps import Layout, steps_of_entry, steps_of_schema
from pipeline.rules.native.dispatch import IMPLICIT
from pipeline.rules.native.entry import is_view
from pipeline.stages.derivatives import definition
from pipeline.stages.foreach import reference_of
from pipeline.stages.infos import keyed
from pipeline.stages.kernels import kernel
from pipeline.stages.match import info, node
from pipeline.stages.schemas import entry_of, function
from pipeline.stages.schemas import origin as generated_from
from pipeline.stages.units import unit


@query
def operator(db: Database, layout: str, shards: int, page: str) -> Operator:
    """The functions of one page, and their derivatives."""
    at = (layout, shards)
    names = members.item(db, page) or []
    found = {name: native for name in names if (native := function(db, name)) is not None}
    derivatives = tuple(each for name, native in found.items() for each in _derivatives(db, at, name, native))
    functions = tuple(_function(db, at, name, native) for name, native in found.items())
    namespace = next(iter(found.values())).namespace if found else ""
    return Operator(page, namespace, derivatives, functions, tuple(_rows(db, names)))


def _rows(db: Database, names: list[str]) -> Iterator[Row]:
    for name in names:
        for row, found in _infos(db, name):
            serves = (relations.item(db, name) or Relations()).serves.get(row.dispatch_key, ())
            yield row_of(row, found, tuple(ref(db, each).title for each in serves))


def _infos(db: Database, name: str) -> Iterator[tuple[NodeRow, Info]]:
    """The infos that a function has of its own, with the rows of their Nodes."""
    for key in keys_of.item(db, name) or ():
        row, found = node(db, keyed(name, key)), info(db, name, key)
        if row is not None and found is not None:
            yield row, found


# ---- derivatives


def _derivatives(db: Database, at: Layout, name: str, native: NativeFunction) -> Iterator[Derivative]:
    seen: set[str] = set()
    for row, found in _infos(db, name):
        own = not (row.synthesized or row.is_copy)
        steps = steps_of_entry(db, at, name, row.definition) if own and row.definition not in seen else ()
        seen.add(row.definition)
        served = (relations.item(db, name) or Relations()).serves.get(row.dispatch_key, ())
        title = ref(db, name).title
        yield Derivative(
            title,
            str(native.func),
            row.dispatch_key,
            row.node or "",
            node_anchor(row.node or "", title, row.dispatch_key),
            _unit(db, at, NODES.name, keyed(name, row.dispatch_key)),
            _source(db, "derivatives", row.definition),
            tuple(_gradients(row, found, [argument.name for argument in native.func.arguments])),
            tuple(_tangents(db, row, found)),
            tuple(_saved(found)),
            tuple(given.name for given in found.args_with_derivatives),
            found.non_differentiable_arg_names,
            _outputs(found),
            tuple(ref(db, each) for each in served),
            None if own else _origin(db, name),
            steps,
        )


def _gradients(row: NodeRow, found: Info, arguments: list[str]) -> Iterator[Formula]:
    """The gradients, in the order of the arguments."""
    for each in sorted(found.derivatives, key=lambda each: arguments.index(each.var_names[0])):
        written = each.formula if row.synthesized else each.original_formula
        yield Formula(
            each.var_names, written, "" if written == each.formula else each.formula, is_missing(each.formula)
        )


def _tangents(db: Database, row: NodeRow, found: Info) -> Iterator[Formula]:
    parsed = definition(db, row.definition) if not row.synthesized else None
    rows = dict(parsed.dispatch).get(row.dispatch_key, ()) if parsed else ()
    as_written = {name: formula.formula for formula in rows for name in formula.names}
    for each in found.forward_derivatives:
        text = next((as_written[name] for name in each.var_names if name in as_written), each.formula)
        yield Formula(each.var_names, text, "" if text == each.formula else each.formula, is_missing(each.formula))


def _saved(found: Info) -> Iterator[Saved]:
    for each in (*found.all_saved_inputs, *found.all_saved_outputs):
        yield Saved(each.name, each.type, each.expr, "at::Tensor" in each.type)


def _outputs(found: Info) -> str:
    if found.output_differentiability_conditions:
        return ", ".join(found.output_differentiability_conditions)
    return ", ".join(map(str, found.output_differentiability or ()))


def _origin(db: Database, name: str) -> Ref | None:
    """The function that derivatives were taken over from."""
    reference = reference_of(db, name)
    found = reference.reference if reference is not None else (relations.item(db, name) or Relations()).view
    return ref(db, found) if found else None


def _source(db: Database, role: Role, entry: str) -> Source:
    file, text = written.item(db, role, entry) or ("", "")
    return Source(file, source_page(file), entry_anchor(entry), text)


# ---- functions


def _function(db: Database, at: Layout, name: str, native: NativeFunction) -> Function:
    near, origin = relations.item(db, name) or Relations(), generated_from(db, name)
    pair = kernel(db, name)
    sources = dict.fromkeys((pair.source or {}).values()) if pair is not None else {}
    units = (_unit(db, at, family, name) for family in shown_families(db) if family != NODES.name)
    return Function(
        near.title,
        str(native.func),
        schema_kind(native.func),
        ref(db, origin.base).title if origin is not None else "",
        _status(native, name, list(sources)),
        tuple(ref(db, each) for each in sources if each != name and schema_kind(native.func) not in NOT_DIFFERENTIATED),
        is_view(native),
        native.variants,
        native.tags,
        tuple((key, kernel.name) for key, kernel in native.dispatch.items()),
        native.structured_delegate or "",
        tuple(ref(db, each) for each in near.copies),
        (ref(db, near.view),) if near.view else (),
        tuple(ref(db, each) for each in near.foreach),
        (ref(db, near.reference),) if near.reference else (),
        _source(db, "native", entry_of(name)),
        tuple(found for found in units if found is not None),
        steps_of_schema(db, at, name),
    )


def _status(native: NativeFunction, name: str, sources: list[str]) -> str:
    """How a function is differentiated, in words."""
    if schema_kind(native.func) in NOT_DIFFERENTIATED:
        return "not at all: it writes into its arguments"
    if name in sources:
        return "by formulas of its own"
    if sources:
        return "by the formulas of"
    if IMPLICIT in native.dispatch:
        return "through the functions that it calls"
    return "not at all: it has no derivative"


def _unit(db: Database, at: Layout, family: str, name: str) -> Unit | None:
    """What a family prints; None where it prints nothing."""
    files = placed.item(db, *at, family, name) if family in shown_families(db) else None
    found = unit(db, family, name) if files is not None else None
    return None if found is None else Unit(family, name, found.title, tuple(each.file for each in files or ()))


# ---- summaries


@table
def groups(db: Database) -> dict[str, list[str]]:
    """The pages of operators in groups of neighbours."""
    return {group[0]: group for group in grouped(db.names(members))}


@query
def summaries(db: Database, layout: str, shards: int, group: str) -> list[Summary]:
    """What lists and the search say of the operators of a group."""
    return [_summary(operator(db, layout, shards, page)) for page in groups.item(db, group) or ()]


def _summary(found: Operator) -> Summary:
    traits = {
        "derivative": bool(found.derivatives),
        "forward": any(each.tangents for each in found.derivatives),
        "view": any(each.view for each in found.functions),
        "foreach": found.page.startswith("_foreach_"),
        "composite": any(each.status.startswith("through") for each in found.functions),
        "inplace": any(each.kind == "inplace" for each in found.functions),
    }
    nodes = dict.fromkeys((each.node, each.anchor) for each in found.derivatives if each.node)
    functions = tuple(each.title for each in found.functions)
    return Summary(found.page, functions, tuple(nodes), tuple(name for name, has in traits.items() if has), found.rows)


def all_summaries(db: Database, layout: str, shards: int) -> list[Summary]:
    """Those of all operators, in their order."""
    return [found for group in db.names(groups) for found in summaries(db, layout, shards, group)]
