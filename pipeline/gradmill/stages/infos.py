"""Stage `infos`: definitions and schemas to differentiability infos, and the names of the Nodes.

The function of a definition and the number of its Node depend on names only, and on which definitions have derivatives:
an edited formula repeats no lookup and renumbers no Node.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gradmill.grammar.buckets import bucket_of
from gradmill.model.autograd import Definition, Info, Reverse
from gradmill.model.layers import layer_of
from gradmill.model.nodes import Defined, Keyed, NodeRow, Shape
from gradmill.problems.problem import Problem, Role, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.memo import encode
from gradmill.query.query import Table, query, table
from gradmill.stages.derivatives import Titled, buckets, definition, explained, in_order, reading_on, titles
from gradmill.stages.schemas import Listed, all_heads, function, heads, operator_names, schema_of, views
from gradmill.stages.set import release

Items = Table[[str], Raw]  # of infos, in the items of `parts`


@table
def targets(db: Database, bucket: str) -> dict[str, str]:
    """The function that each definition of a bucket is for."""
    from gradmill.lints.namespace import of_other_namespace
    from gradmill.rules.matching.target import Operators  # only needed for names that changed

    listed = heads(db, bucket)
    at = {name: i for i, (name, _) in enumerate(listed)}
    operators = Operators(
        [head for _, head in listed],
        [at[name] for name in views(db, bucket).order],
        lambda: operator_names(db),
        lambda: [head for _, head in all_heads(db)],
    )
    functions = {}
    for titled in titles(db, bucket):
        entry, schema, name = titled
        try:
            functions[entry] = listed[operators.canonical(schema, name)][0]
        except SpecError as error:
            for each in (error, *error.others):
                db.report(replace(_problem(each, titled), see=_seen(error, listed)))
    defined = set(functions.values())
    for titled in titles(db, bucket):
        target = functions.get(titled[0]) if layer_of(titled[0]) else None
        other = of_other_namespace(titled, target, listed, defined) if target is not None else None
        if other is not None:
            db.report(_problem(other, titled, warning=True))
    return functions


@table
def infos_of(db: Database, entry: str) -> dict[str, Raw]:
    """The infos of one definition under its dispatch keys, as items with separate dependents."""
    return parts(_infos(db, entry))


SHAPE = "shape"  # the item with the dispatch keys, each with whether it has a derivative to compute


def parts(keyed_infos: Sequence[Keyed]) -> dict[str, Raw]:
    """Infos as items: `shape`; the info under each dispatch key; the part of it that its Node is printed from."""
    shape = tuple((key, bool(info.args_with_derivatives)) for key, info in keyed_infos)
    items: dict[str, object] = {SHAPE: shape}
    for key, info in keyed_infos:
        items |= {_INFO + key: info, _REVERSE + key: info.reverse}
    return {name: Raw(encode(part)) for name, part in items.items()}


_INFO, _REVERSE = "info ", "reverse "
_infos_decoder = msgspec.msgpack.Decoder(Info)
_reverse_decoder = msgspec.msgpack.Decoder(Reverse)
_shape_decoder = msgspec.msgpack.Decoder(tuple[tuple[str, bool], ...])


def info_part(db: Database, items: Items, name: str, dispatch_key: str) -> Info | None:
    """The info under a dispatch key of a definition or a foreach function; None if there is none."""
    raw = items.item(db, name, _INFO + dispatch_key)
    return None if raw is None else _infos_decoder.decode(raw)


def reverse_part(db: Database, items: Items, name: str, dispatch_key: str) -> Reverse | None:
    """The part of an info that a Node is printed from; None if there is none."""
    raw = items.item(db, name, _REVERSE + dispatch_key)
    return None if raw is None else _reverse_decoder.decode(raw)


def shape_part(db: Database, items: Items, name: str) -> tuple[tuple[str, bool], ...]:
    """The dispatch keys, each with whether there is a derivative to compute."""
    raw = items.item(db, name, SHAPE)
    return () if raw is None else _shape_decoder.decode(raw)


def _infos(db: Database, entry: str) -> list[Keyed]:
    """The infos of one definition by dispatch key; none if it has errors, which are reported."""
    from gradmill.lints.suspicion import of_names, suspicious
    from gradmill.releases.elsewhere import dated_name
    from gradmill.rules.derivatives.info import create_infos, valid_rows  # much code, only for formulas that changed
    from gradmill.stages.formulas.vocabulary import Vocabulary

    target = targets.item(db, bucket_of(entry), entry)
    defined = definition(db, entry)
    native = None if target is None else function(db, target)
    if defined is None or native is None:
        return []  # the function is None if this is verified before its table of names, which then changes
    titled, facts = (entry, defined.schema, defined.name), release(db)

    def suspicions(defined: Definition, infos: Iterable[Keyed]) -> Iterator[SpecError]:
        for dispatch_key, info in infos:
            yield from suspicious(
                definition=defined, dispatch_key=dispatch_key, info=info, function=native, vocabulary=Vocabulary(db)
            )

    errors: list[SpecError] = []
    try:
        keyed_infos = create_infos(defined, native, facts)
    except SpecError as error:
        errors = [error, *error.others]
    for each in errors:
        if each.at_key or not defined.partial:  # a key has its errors whatever the others are
            db.report(_problem(each, titled))
    if errors or defined.partial:
        keyed_infos = []
        found = of_names(suspicions(*valid_rows(defined, errors, native, facts)))
    else:
        found = [*suspicions(defined, keyed_infos)]
    for suspicion in found:
        if suspicion.rule == "unknown-function" and suspicion.fix is None:
            dated_name(suspicion, suspicion.needle.partition("(")[0])
        db.report(_problem(explained(db, entry, suspicion), titled, warning=True))
    return keyed_infos


class Shapes(Struct, frozen=True, array_like=True):
    """The definitions of a bucket that have a function, in the order of the file, and the functions with their own
    derivatives, copies last."""

    shapes: list[Shape]
    defined: list[Defined]


@query
def shapes(db: Database, bucket: str) -> Shapes:
    """The shapes of the definitions of a bucket, and the functions that they define.

    The last of several definitions for one function replaces the first, at its place. The copy of a view is
    differentiated as the view, unless it has its own definition.
    """
    listed = titles(db, bucket)
    known, of = (targets(db, bucket), dict(heads(db, bucket))) if listed else ({}, {})
    shaped: list[Shape] = []
    functions: dict[str, Defined] = {}
    for titled in listed:
        entry, _, operator = titled
        target, keys = known.get(entry), shape_part(db, infos_of, entry)
        if target is None or not (keys or _has_one_key(db, entry)):
            continue
        shaped.append(Shape(entry, operator, keys))
        before = functions.get(target)
        if before is not None and layer_of(before.definition) == layer_of(entry):
            again = SpecError(
                f"a second definition for {of[target].schema}",
                "the later one wins: remove one of them",
                field=("name",),
                rule="second-definition",
            )
            problem = _problem(again, titled, warning=True)
            db.report(replace(problem, see=("derivatives", before.definition, "")))
        first = before.first if before is not None else entry
        functions[target] = Defined(target, of[target].name, entry, first)
    return Shapes(shaped, [*functions.values(), *_copies(db, bucket, shaped, functions)])


def _has_one_key(db: Database, entry: str) -> bool:
    defined = definition(db, entry)
    return defined is not None and not defined.dispatch


def _copies(db: Database, bucket: str, shapes: Iterable[Shape], functions: dict[str, Defined]) -> list[Defined]:
    """The copies of views with derivatives that lack their own."""
    copies = views(db, bucket).copies if functions else []
    if not copies:
        return []
    from gradmill.rules.matching.copies import defined_copies  # only needed for names that changed

    listed = dict(heads(db, bucket))
    copy_of = {listed[view].name: copy for view, copy in copies}
    return defined_copies(functions, copy_of, listed, {shape.definition for shape in shapes if shape.keys})


def all_shapes(db: Database) -> list[Shape]:
    """The shapes of all definitions, in the order of the file."""
    items = (shape for bucket in db.names(buckets) for shape in shapes(db, bucket).shapes)
    return in_order(db, items, lambda shape: shape.definition)


def all_defined(db: Database) -> list[Defined]:
    """The functions with their own derivatives, in the order in which their Nodes are printed."""
    items = (each for bucket in db.names(buckets) for each in shapes(db, bucket).defined)
    return sorted(in_order(db, items, lambda each: each.first), key=lambda each: each.is_copy)


def own_keys(db: Database, bucket: str) -> dict[str, dict[str, bool]]:
    """The dispatch keys of the functions of a bucket with their own derivatives, each with whether there is a
    derivative to compute, by function."""
    own = shapes(db, bucket)
    of = {shape.definition: dict(shape.keys) for shape in own.shapes}
    return {defined.function: of[defined.definition] for defined in own.defined}


@table
def rows(db: Database) -> dict[str, NodeRow]:
    """A row for each info, with the name of its Node, by dispatch key and function, in the order of printing."""
    from gradmill.rules.matching.copies import node_row  # only needed for names that changed
    from gradmill.rules.matching.naming import NodeNames

    names = NodeNames()
    node_names: dict[str, dict[str, str | None]] = {}
    operators = {}
    for shape in all_shapes(db):
        operators[shape.definition] = shape.operator
        node_names[shape.definition] = {
            key: names.next(shape.operator, key) if differentiable else None for key, differentiable in shape.keys
        }
    return {
        keyed(defined.function, key): node_row(defined, key, node, operators[defined.definition])
        for defined in all_defined(db)
        for key, node in node_names[defined.definition].items()
    }


def keyed(function: str, dispatch_key: str) -> str:
    """The key of a row: the dispatch key and the function."""
    return f"{dispatch_key} {function}"


def info_of(db: Database, row: NodeRow) -> Info:
    """The info of a row that is not synthesized."""
    info = info_part(db, infos_of, row.definition, row.dispatch_key)
    assert info is not None
    return replace(info, name=row.operator, func=schema_of(db, row.function)) if row.is_copy else info


def reverse_of(db: Database, row: NodeRow) -> Reverse:
    """The part of a row's info that its Node is printed from."""
    part = reverse_part(db, infos_of, row.definition, row.dispatch_key)
    assert part is not None
    name, func = (row.operator, schema_of(db, row.function)) if row.is_copy else (part.name, part.func)
    return replace(part, name=name, func=func, node=row.node or "")


@query
def stage(db: Database) -> int:
    """Validates all infos and their rows; returns the number of rows."""
    db.digest(reading_on)
    return len(rows(db))


def _seen(error: SpecError, listed: Sequence[Listed]) -> tuple[Role, str, str] | None:
    """The entry that an error also points at, and the text there; None if it points at none."""
    of = {head.schema: name for name, head in listed}
    return ("native", of[error.see[0]], error.see[1]) if error.see else None


def _problem(error: SpecError, titled: Titled, *, warning: bool = False) -> Problem:
    op = titled[1].partition("(")[0]
    return problem_of(error, "derivatives", titled[0], op, warning=warning, derived=True)
