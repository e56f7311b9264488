"""Stage `foreach`: derivatives of `_foreach_*` functions without their own definition."""

from functools import partial

from msgspec import Raw, Struct
from msgspec.structs import replace

from gradmill.model.autograd import Info, Reverse
from gradmill.model.nodes import NodeRow, Reference
from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages import infos
from gradmill.stages.layered.participation import participants
from gradmill.stages.schemas import bucket_of_function, buckets, function, heads
from gradmill.stages.set import release

# Foreach functions refer to the derivatives of this key only: upstream hard-codes it too.
DISPATCH_KEY = "Default"


@table
def references(db: Database, bucket: str) -> dict[str, Reference]:
    """The reference of each foreach function of a bucket: the function with the derivatives that serve it."""
    from gradmill.rules.matching import foreach  # only needed for functions that changed

    foreach_functions = [listed for listed in participants(db, bucket) if listed[1].base.startswith(foreach.PREFIX)]
    if not foreach_functions:
        return {}
    known, facts = dict(heads(db, bucket)), release(db)
    by_function = {defined.function: defined for defined in infos.shapes(db, bucket).defined}
    with_infos = [name for name, keys in infos.own_keys(db, bucket).items() if keys]
    # Upstream searches functions with infos first, then those with a definition without any dispatch key.
    ordered = [*with_infos, *(name for name in by_function if name not in with_infos)]
    functional = foreach.by_base(ordered, known, lambda head: head.kind == "functional")
    others = foreach.by_base(ordered, known, lambda head: head.kind != "functional")
    by_name = {}
    for name, head in foreach.without_definition(foreach_functions, known, by_function, with_infos):
        base, fitting = head.base.split(foreach.PREFIX)[-1], partial(fits, db, name)
        if base not in functional and base not in others:
            continue
        at = foreach.find_reference(head, functional.get(base, ()), others.get(base, ()), fitting, facts)
        if at is not None:
            by_name[name] = Reference(
                function=name,
                name=head.name,
                cpp_name=head.cpp_name,
                inplace=head.kind == "inplace",
                reference=at,
                reference_name=known[at].name,
                definition=by_function[at].definition,
            )
    return by_name


def reference_of(db: Database, name: str) -> Reference | None:
    """The reference of a foreach function; None if it has its own derivatives, or no function fits."""
    return references.item(db, bucket_of_function(name), name)


def all_references(db: Database) -> list[Reference]:
    """The references of all foreach functions in upstream's order, which is the order of their Nodes: by C++ name.
    Functions that share a C++ name are in one bucket, in their order."""
    items = (each for bucket in db.names(buckets) for each in references(db, bucket).values())
    return sorted(items, key=lambda reference: reference.cpp_name)


@query
def fits(db: Database, name: str, candidate: str) -> bool:
    """Whether a foreach function may apply the function `candidate` to each member of its lists."""
    from gradmill.rules.matching.foreach import is_reference

    native, other = function(db, name), function(db, candidate)
    return native is not None and other is not None and is_reference(native.func, other.func, release(db))


@query
def source(db: Database, name: str) -> NodeRow | None:
    """The row of the info that serves a foreach function; None if its reference has none for the key."""
    reference = reference_of(db, name)
    if reference is None:
        return None
    row = infos.rows.item(db, infos.keyed(reference.reference, DISPATCH_KEY))
    if row is None:
        error = SpecError(
            f"foreach op '{reference.name}' refers to this definition, which has no {DISPATCH_KEY} derivatives",
            f"add {DISPATCH_KEY} formulas",
            field=("dispatch",),
        )
        db.report(problem_of(error, "derivatives", reference.definition, reference.reference_name, derived=True))
    return row


@table
def synthesized(db: Database, name: str) -> dict[str, Raw]:
    """The info of an out-of-place foreach function, synthesized from that of its reference, in `infos.parts`."""
    from gradmill.rules.matching.foreach import synthesize

    reference, row = reference_of(db, name), source(db, name)
    if reference is None or row is None or reference.inplace:
        return infos.parts([])
    native, other = function(db, name), function(db, reference.reference)
    assert native is not None and other is not None
    try:
        return infos.parts([(DISPATCH_KEY, synthesize(native, other, infos.info_of(db, row), release(db)))])
    except SpecError as error:
        db.report(problem_of(error, "derivatives", reference.definition, reference.reference_name, derived=True))
        return infos.parts([])


def info_of(db: Database, name: str) -> Info | None:
    """The synthesized info of a foreach function; None if it has none."""
    return infos.info_part(db, synthesized, name, DISPATCH_KEY)


def reverse_of(db: Database, row: NodeRow) -> Reverse | None:
    """The part of a synthesized info that its Node is printed from; None if there is none."""
    part = infos.reverse_part(db, synthesized, row.function, row.dispatch_key)
    return None if part is None else replace(part, node=row.node or "")


@query
def row_of(db: Database, name: str) -> NodeRow | None:
    """The row of a foreach function; None if it has no synthesized info."""
    from gradmill.rules.matching.foreach import foreach_node

    reference, row = reference_of(db, name), source(db, name)
    shape = infos.shape_part(db, synthesized, name)
    if reference is None or row is None or not shape:
        return None
    return NodeRow(
        node=foreach_node(row.node, reference.overload) if shape[0][1] else None,
        operator=reference.base,
        op=reference.name,
        dispatch_key=DISPATCH_KEY,
        function=reference.function,
        definition=reference.definition,
        synthesized=True,
    )


@table
def rows(db: Database) -> dict[str, NodeRow]:
    """A row for each synthesized info, with the name of its Node, by dispatch key and function, in the order of
    printing."""
    candidates = (row_of(db, reference.function) for reference in all_references(db))
    return {infos.keyed(row.function, row.dispatch_key): row for row in candidates if row is not None}


class Synthesized(Struct, frozen=True, array_like=True):
    """The derivatives of the foreach functions of a bucket without their own definition."""

    keys: dict[str, dict[str, bool]]  # as `infos.own_keys`, of functions with synthesized infos
    borrowed: dict[str, str]  # in-place functions, and the functions with the infos that serve them


@query
def synthesized_in(db: Database, bucket: str) -> Synthesized:
    """The derivatives that serve the foreach functions of a bucket."""
    listed = references(db, bucket)
    rows = (row_of(db, name) for name in listed)
    keys = {row.function: {row.dispatch_key: row.node is not None} for row in rows if row is not None}
    inplace = (reference for reference in listed.values() if reference.inplace)
    borrowed = {each.function: each.reference for each in inplace if source(db, each.function) is not None}
    return Synthesized(keys, borrowed)


@query
def stage(db: Database) -> int:
    """Validates all synthesized infos; returns the number of buckets."""
    return len([db.digest(synthesized_in, bucket) for bucket in db.names(buckets)])
