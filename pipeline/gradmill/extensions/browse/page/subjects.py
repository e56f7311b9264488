"""The contents of one operator's page. Reads the rows of its functions; of other functions only their links."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradmill.extensions.browse.page.model import (
    Derivative,
    Formula,
    Function,
    Listed,
    ListedNode,
    Operator,
    Ref,
    Relations,
    Source,
    Summary,
    Unit,
)
from gradmill.extensions.browse.page.names import entry_anchor, node_anchor, source_page, unit_anchor
from gradmill.extensions.browse.page.relations import (
    keys_of,
    members,
    placed,
    ref,
    relations,
    shown_families,
    written,
)
from gradmill.extensions.browse.page.steps import Layout, steps_of_entry, steps_of_schema
from gradmill.families.nodes import NODES
from gradmill.model.autograd import Info
from gradmill.model.entries import grouped
from gradmill.model.native import NativeFunction
from gradmill.model.nodes import NodeRow
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.reports.coverage import Row, is_missing, row_of
from gradmill.reports.diff.facts import outputs_of
from gradmill.reports.served import NOT_DIFFERENTIATED
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.rules.native.heads import is_view
from gradmill.stages.derivatives import definition
from gradmill.stages.foreach import reference_of
from gradmill.stages.infos import keyed
from gradmill.stages.kernels import kernel
from gradmill.stages.match import info, node
from gradmill.stages.schemas import entry_of, function
from gradmill.stages.schemas import origin as generated_from
from gradmill.stages.units import unit, units_of


@query
def operator(db: Database, layout: str, shards: int, page: str) -> Operator:
    """The functions of one page, and their derivatives."""
    at = (layout, shards)
    names = members.item(db, page) or []
    natives = {name: native for name in names if (native := function(db, name)) is not None}
    derivatives = tuple(each for name, native in natives.items() for each in _derivatives(db, at, name, native))
    functions = tuple(_function(db, at, name, native) for name, native in natives.items())
    namespace = next(iter(natives.values())).namespace if natives else ""
    return Operator(page, namespace, derivatives, functions, tuple(_rows(db, names)))


def _rows(db: Database, names: list[str]) -> Iterator[Row]:
    for name in names:
        for row, own_info in _infos(db, name):
            serves = (relations.item(db, name) or Relations()).serves.get(row.dispatch_key, ())
            yield row_of(row, own_info, tuple(ref(db, each).title for each in serves))


def _infos(db: Database, name: str) -> Iterator[tuple[NodeRow, Info]]:
    """The function's own infos, with the rows of their Nodes."""
    for key in keys_of.item(db, name) or ():
        row, own_info = node(db, keyed(name, key)), info(db, name, key)
        if row is not None and own_info is not None:
            yield row, own_info


# ---- derivatives


def _derivatives(db: Database, at: Layout, name: str, native: NativeFunction) -> Iterator[Derivative]:
    seen: set[str] = set()
    arguments = tuple(argument.name for argument in native.func.arguments)
    for row, own_info in _infos(db, name):
        own = not (row.synthesized or row.is_copy)
        steps = steps_of_entry(db, at, name, row.definition) if own and row.definition not in seen else ()
        seen.add(row.definition)
        served = (relations.item(db, name) or Relations()).serves.get(row.dispatch_key, ())
        title = ref(db, name).title
        yield Derivative(
            function=title,
            schema=str(native.func),
            arguments=arguments,
            dispatch_key=row.dispatch_key,
            node=row.node or "",
            anchor=node_anchor(row.node or "", title, row.dispatch_key),
            unit=_unit(db, at, NODES.name, keyed(name, row.dispatch_key)),
            source=_source(db, "derivatives", row.definition),
            gradients=tuple(_gradients(row, own_info, arguments)),
            tangents=tuple(_tangents(db, row, own_info)),
            saved=(*own_info.all_saved_inputs, *own_info.all_saved_outputs),
            inputs=tuple(argument.name for argument in own_info.args_with_derivatives),
            constants=own_info.non_differentiable_arg_names,
            outputs=outputs_of(own_info),
            serves=tuple(ref(db, each) for each in served),
            origin=None if own else _origin(db, name),
            steps=steps,
        )


def _gradients(row: NodeRow, own_info: Info, arguments: tuple[str, ...]) -> Iterator[Formula]:
    """The gradients, in the order of the arguments."""
    for each in sorted(own_info.derivatives, key=lambda each: arguments.index(each.var_names[0])):
        written = each.formula if row.synthesized else each.original_formula
        yield Formula(
            each.var_names, written, "" if written == each.formula else each.formula, is_missing(each.formula)
        )


def _tangents(db: Database, row: NodeRow, own_info: Info) -> Iterator[Formula]:
    parsed = definition(db, row.definition) if not row.synthesized else None
    rows = dict(parsed.dispatch).get(row.dispatch_key, ()) if parsed else ()
    as_written = {name: formula.formula for formula in rows for name in formula.names}
    for each in own_info.forward_derivatives:
        text = next((as_written[name] for name in each.var_names if name in as_written), each.formula)
        yield Formula(each.var_names, text, "" if text == each.formula else each.formula, is_missing(each.formula))


def _origin(db: Database, name: str) -> Ref | None:
    """The function that these derivatives are derived from."""
    reference = reference_of(db, name)
    origin = reference.reference if reference is not None else (relations.item(db, name) or Relations()).view
    return ref(db, origin) if origin else None


def _source(db: Database, role: Role, entry: str) -> Source:
    file, text = written.item(db, role, entry) or ("", "")
    return Source(file, source_page(file), entry_anchor(entry), text)


# ---- functions


def _function(db: Database, at: Layout, name: str, native: NativeFunction) -> Function:
    near, origin = relations.item(db, name) or Relations(), generated_from(db, name)
    pair = kernel(db, name)
    sources = dict.fromkeys((pair.source or {}).values()) if pair is not None else {}
    others = (family for family in shown_families(db) if family != NODES.name)
    units = (_unit(db, at, family, each, near.title) for family in others for each in _units_of(db, family, name))
    return Function(
        title=near.title,
        schema=str(native.func),
        kind=schema_kind(native.func),
        generated=ref(db, origin.base).title if origin is not None else "",
        status=_status(native, name, list(sources)),
        served_by=tuple(
            ref(db, each) for each in sources if each != name and schema_kind(native.func) not in NOT_DIFFERENTIATED
        ),
        view=is_view(native),
        variants=native.variants,
        tags=native.tags,
        dispatch=tuple((key, kernel.name) for key, kernel in native.dispatch.items()),
        delegate=native.structured_delegate or "",
        copies=tuple(ref(db, each) for each in near.copies),
        views=(ref(db, near.view),) if near.view else (),
        foreach=tuple(ref(db, each) for each in near.foreach),
        references=(ref(db, near.reference),) if near.reference else (),
        source=_source(db, "native", entry_of(name)),
        units=tuple(each for each in units if each is not None),
        steps=steps_of_schema(db, at, name),
    )


def _status(native: NativeFunction, name: str, sources: list[str]) -> str:
    """How autograd differentiates a function, as text."""
    if schema_kind(native.func) in NOT_DIFFERENTIATED:
        return "not at all: it writes into its arguments"
    if name in sources:
        return "by its own formulas"
    if sources:
        return "by the formulas of"
    if IMPLICIT in native.dispatch:
        return "through the functions that it calls"
    return "not at all: it has no derivative"


def _units_of(db: Database, family: str, function_: str) -> list[str]:
    """The units of a family that are shown with a function: a Python name with its first function."""
    named = units_of(db, family, function_)
    if named == [function_]:
        return named
    return [each for each in named if (at := unit(db, family, each)) is not None and at.function == function_]


def _unit(db: Database, at: Layout, family: str, name: str, of: str = "") -> Unit | None:
    """The code that a family generates for a function of the title `of`; None if it generates none."""
    files = placed.item(db, *at, family, name) if family in shown_families(db) else None
    shown = unit(db, family, name) if files is not None else None
    if shown is None:
        return None
    anchor = unit_anchor(family, shown.title, of) if of else ""
    return Unit(family, name, shown.title, tuple(each.file for each in files or ()), anchor)


# ---- summaries


@table
def groups(db: Database) -> dict[str, list[str]]:
    """The pages of operators, in groups of neighbours."""
    return {group[0]: group for group in grouped(db.names(members))}


@query
def summaries(db: Database, layout: str, shards: int, group: str) -> list[Summary]:
    """The summaries of a group of operators."""
    return [_summary(operator(db, layout, shards, page)) for page in groups.item(db, group) or ()]


# The name of each trait of an operator, its label, and whether an operator has it.
TRAITS: tuple[tuple[str, str, Callable[[Operator], object]], ...] = (
    ("derivative", "own formulas", lambda shown: shown.derivatives),
    ("forward", "forward mode", lambda shown: any(each.tangents for each in shown.derivatives)),
    ("view", "views", lambda shown: any(each.view for each in shown.functions)),
    ("inplace", "in-place", lambda shown: any(each.kind == "inplace" for each in shown.functions)),
    ("foreach", "foreach", lambda shown: shown.page.startswith("_foreach_")),
    ("composite", "composite", lambda shown: any(each.status.startswith("through") for each in shown.functions)),
)


def _summary(shown: Operator) -> Summary:
    nodes = dict.fromkeys((each.node, each.anchor) for each in shown.derivatives if each.node)
    functions = tuple(
        Listed(each.title, each.kind, each.status, each.served_by, each.view, bool(each.generated))
        for each in shown.functions
    )
    return Summary(
        shown.page, functions, tuple(nodes), tuple(name for name, _, has in TRAITS if has(shown)), shown.rows
    )


def all_summaries(db: Database, layout: str, shards: int) -> list[Summary]:
    """The summaries of all operators, in their order."""
    return [each for group in db.names(groups) for each in summaries(db, layout, shards, group)]


@query
def listed_nodes(db: Database, layout: str, shards: int, group: str) -> list[ListedNode]:
    """The Nodes of a group of operators. Apart from the summaries: few lists show forward formulas."""
    return [
        _listed_node(page, row, each)
        for page in groups.item(db, group) or ()
        for shown in [operator(db, layout, shards, page)]
        for row, each in zip(shown.rows, shown.derivatives)
        if row.node
    ]


def _listed_node(page: str, row: Row, shown: Derivative) -> ListedNode:
    forward = tuple(each.written for each in shown.tangents)
    if forward and row.synthesized:
        forward = (f"as {shown.origin.title}" if shown.origin is not None else "derived",)
    return ListedNode(page, row, forward)
