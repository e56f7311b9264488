"""Stage `infos`: definitions and schemas to differentiability infos, and the names of the Nodes.

Which function a definition is for, and which number its Node gets, follow from names and from which definitions have
derivatives: an edited formula looks nothing up again, and moves no number.
"""

from collections.abc import Iterable

import msgspec

from pipeline.model.autograd import Info
from pipeline.model.nodes import Defined, Keyed, NodeRow, Shape, Target
from pipeline.problems.problem import Problem, SpecError, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.derivatives.info import create_infos
from pipeline.rules.derivatives.suspicion import suspicious
from pipeline.rules.matching.naming import NodeNames
from pipeline.rules.matching.target import Operators
from pipeline.stages.derivatives import Titled, all_titles, definition, definitions, groups
from pipeline.stages.schemas import all_heads, function, views
from pipeline.stages.set import release


@table
def targets(db: Database) -> dict[str, Target]:
    """The function that each definition is for."""
    listed = all_heads(db)
    at = {name: i for i, (name, _) in enumerate(listed)}
    operators = Operators([head for _, head in listed], [at[name] for name in views(db).order])
    found = {}
    for titled in all_titles(db):
        entry, schema, name = titled
        try:
            function_name, head = listed[operators.canonical(schema, name)]
            found[entry] = Target(function_name, head.schema)
        except SpecError as error:
            _report(db, error, titled)
    return found


@query
def infos_of(db: Database, entry: str) -> list[Keyed]:
    """The infos of one definition by dispatch key; none where there is something wrong."""
    target = targets.item(db, entry)
    defined = definition(db, entry)
    if target is None or defined is None:
        return []
    native = function(db, target.function)
    assert native is not None
    titled = (entry, defined.schema, defined.name)
    try:
        found = create_infos(defined, native, release(db))
    except SpecError as error:
        _report(db, error, titled)
        return []
    for dispatch_key, info in found:
        for suspicion in suspicious(defined, dispatch_key, info, native):
            db.report(_problem(suspicion, titled, warning=True))
    return found


@query
def shapes(db: Database, group: str) -> list[Shape]:
    """What the definitions of a group came to."""
    found = []
    for entry, defined in definitions(db, group).items():
        infos = infos_of(db, entry)
        if infos or not defined.dispatch:
            keys = tuple((key, bool(info.args_with_derivatives)) for key, info in infos)
            found.append(Shape(entry, defined.name, keys))
    return found


@query
def defined(db: Database) -> list[Defined]:
    """The functions with derivatives of their own, in the order in which their Nodes are printed.

    Of several definitions for one function the last one counts, at the place of the first. A view's copy is
    differentiated as the view, unless it has a definition of its own.
    """
    found: dict[str, Defined] = {}
    titled = {entry: (entry, schema, name) for entry, schema, name in all_titles(db)}
    known = targets(db)
    for shape in shapes_of_all(db):
        target = known.get(shape.definition)
        if target is None:
            continue
        if target.function in found:
            again = SpecError(
                f"a second definition for {target.schema}", "the later one wins: remove one of them", field=("name",)
            )
            db.report(_problem(again, titled[shape.definition], warning=True))
        found[target.function] = Defined(target.function, target.schema, shape.definition)
    return [*found.values(), *_copies(db, found)]


def _copies(db: Database, found: dict[str, Defined]) -> list[Defined]:
    """The copies of views with derivatives that have none of their own."""
    with_rows = {shape.definition for shape in shapes_of_all(db) if shape.keys}
    heads = dict(all_heads(db))
    copy_of = {heads[view].name: copy for view, copy in views(db).copies}
    wanted: dict[str, Defined] = {}
    for name, given in found.items():
        copy = copy_of.get(heads[name].name)
        if copy is not None and copy not in found and given.definition in with_rows:
            wanted[copy] = Defined(copy, heads[copy].schema, given.definition, True)
    return list(wanted.values())


def shapes_of_all(db: Database) -> list[Shape]:
    return [shape for group in db.names(groups) for shape in shapes(db, group)]


@query
def rows(db: Database) -> list[NodeRow]:
    """Every info with the Node that it is printed as, in the order in which they are printed."""
    names = NodeNames()
    found: dict[str, dict[str, str | None]] = {}
    operators = {}
    known = targets(db)
    for shape in shapes_of_all(db):
        if shape.definition in known:
            operators[shape.definition] = shape.operator
            found[shape.definition] = {
                key: names.next(shape.operator, key) if differentiable else None for key, differentiable in shape.keys
            }
    return [
        _row(given, key, node, operators[given.definition])
        for given in defined(db)
        for key, node in found[given.definition].items()
    ]


@table
def row(db: Database) -> dict[str, NodeRow]:
    """The rows by dispatch key and function."""
    return {keyed(found.function, found.dispatch_key): found for found in rows(db)}


def keyed(function: str, dispatch_key: str) -> str:
    """What the row of a function under a dispatch key goes by."""
    return f"{dispatch_key} {function}"


def _row(given: Defined, key: str, node: str | None, operator: str) -> NodeRow:
    if given.is_copy:
        operator, node = _copy_name(operator), node and f"{node}_copy"
    return NodeRow(node, operator, given.schema, key, given.function, given.definition, given.is_copy)


def _copy_name(name: str) -> str:
    """Upstream appends the overload after a dot, and there is none: the name ends with the dot."""
    return f"{name}_copy."


def info_of(db: Database, row: NodeRow) -> Info:
    """The info of a row that is not synthesized."""
    info = dict(infos_of(db, row.definition))[row.dispatch_key]
    return msgspec.structs.replace(info, name=row.operator, func=row.schema) if row.is_copy else info


@query
def stage(db: Database) -> int:
    """All infos, and their rows."""
    return len(rows(db))


def _report(db: Database, error: SpecError, titled: Titled) -> None:
    for each in (error, *error.others):
        db.report(_problem(each, titled))


def _problem(error: SpecError, titled: Titled, *, warning: bool = False) -> Problem:
    op = titled[1].partition("(")[0]
    return problem_of(error, "derivatives", titled[0], op, warning=warning, derived=True)


def by_function(found: Iterable[NodeRow]) -> dict[str, dict[str, NodeRow]]:
    """Rows by function and dispatch key."""
    ordered: dict[str, dict[str, NodeRow]] = {}
    for row in found:
        ordered.setdefault(row.function, {})[row.dispatch_key] = row
    return ordered
