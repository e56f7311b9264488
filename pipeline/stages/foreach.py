"""Stage `foreach`: derivatives of `_foreach_*` functions that have no definition of their own."""

from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Raw, Struct
from msgspec.structs import replace

from pipeline.model.autograd import Info, Reverse
from pipeline.model.native import FunctionHead
from pipeline.model.nodes import Defined, NodeRow, Reference
from pipeline.problems.problem import SpecError, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.matching.foreach import PREFIX, find_reference, foreach_node, is_reference, synthesize
from pipeline.stages import infos
from pipeline.stages.layered.taking import participants
from pipeline.stages.schemas import Listed, bucket_of_function, buckets, function, heads
from pipeline.stages.set import release

# Foreach functions refer to the derivatives of this key only; upstream has it fixed too.
DISPATCH_KEY = "Default"


@table
def references(db: Database, bucket: str) -> dict[str, Reference]:
    """The function whose derivatives serve each foreach function of a bucket."""
    taken = [listed for listed in participants(db, bucket) if listed[1].base.startswith(PREFIX)]
    if not taken:
        return {}
    known, facts = dict(heads(db, bucket)), release(db)
    given = {defined.function: defined for defined in infos.shapes(db, bucket).defined}
    with_infos = [name for name, keys in infos.own_keys(db, bucket).items() if keys]
    # Upstream looks among functions with infos first, then among those whose definition has no dispatch key at all.
    ordered = [*with_infos, *(name for name in given if name not in with_infos)]
    functional = _by_base(ordered, known, lambda head: head.kind == "functional")
    others = _by_base(ordered, known, lambda head: head.kind != "functional")
    found = {}
    for name, head in _without_definition(taken, known, given, with_infos):
        base = head.base.split(PREFIX)[-1]
        if base not in functional and base not in others:
            continue
        at = find_reference(head, functional.get(base, ()), others.get(base, ()), partial(fits, db, name), facts)
        if at is not None:
            found[name] = _reference(name, head, known[at], given[at])
    return found


def reference_of(db: Database, name: str) -> Reference | None:
    """The function whose derivatives serve a foreach function, None where it has some of its own or there is none."""
    return references.item(db, bucket_of_function(name), name)


def all_references(db: Database) -> list[Reference]:
    """The same of all foreach functions, in the order in which upstream meets them, which that of their Nodes is: by
    C++ name. Functions that share one are in one bucket, in their order."""
    found = (each for bucket in db.names(buckets) for each in references(db, bucket).values())
    return sorted(found, key=lambda reference: reference.cpp_name)


@query
def fits(db: Database, name: str, candidate: str) -> bool:
    """Whether a foreach function may be what applies another one to each member of its lists."""
    native, other = function(db, name), function(db, candidate)
    return native is not None and other is not None and is_reference(native.func, other.func, release(db))


def _reference(name: str, head: FunctionHead, other: FunctionHead, given: Defined) -> Reference:
    inplace = head.kind == "inplace"
    return Reference(name, head.name, head.cpp_name, inplace, given.function, other.name, given.definition)


def _by_base(
    names: Iterable[str], heads: dict[str, FunctionHead], wanted: Callable[[FunctionHead], bool]
) -> dict[str, list[str]]:
    """Functions by base name. Of those that share a signature the last one counts, at the first one's place."""
    by_signature = {heads[name].plain_signature: name for name in names if wanted(heads[name])}
    found: dict[str, list[str]] = {}
    for name in by_signature.values():
        found.setdefault(heads[name].base, []).append(name)
    return found


def _without_definition(
    taken: Iterable[Listed], heads: dict[str, FunctionHead], given: dict[str, Defined], with_infos: Iterable[str]
) -> list[Listed]:
    """Foreach functions that nothing else serves.

    Generated out variants have no derivatives; generated functional ones follow their mutable variant.
    """
    written = {heads[name].plain_signature for name in with_infos if heads[name].kind != "functional"}
    return [
        (name, head)
        for name, head in taken
        if name not in given and not (head.generated and (head.kind == "out" or head.plain_signature in written))
    ]


@query
def source(db: Database, name: str) -> NodeRow | None:
    """The row of the info that serves a foreach function, None where its reference has none for the key."""
    reference = reference_of(db, name)
    if reference is None:
        return None
    row = infos.row.item(db, infos.keyed(reference.reference, DISPATCH_KEY))
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
    """The info of an out-of-place foreach function, made from that of its reference; cut as `infos.parts` says."""
    made = _synthesized(db, name)
    return infos.parts([] if made is None else [(DISPATCH_KEY, made)])


def info_of(db: Database, name: str) -> Info | None:
    """The info of a foreach function, None where it has none of its own."""
    return infos.info_part(db, synthesized, name, DISPATCH_KEY)


def reverse_of(db: Database, row: NodeRow) -> Reverse | None:
    """The same, as far as the Node is printed from it."""
    found = infos.reverse_part(db, synthesized, row.function, row.dispatch_key)
    return None if found is None else replace(found, node=row.node or "")


def _synthesized(db: Database, name: str) -> Info | None:
    reference, row = reference_of(db, name), source(db, name)
    if reference is None or row is None or reference.inplace:
        return None
    native, other = function(db, name), function(db, reference.reference)
    assert native is not None and other is not None
    try:
        return synthesize(native, other, infos.info_of(db, row), release(db))
    except SpecError as error:
        db.report(problem_of(error, "derivatives", reference.definition, reference.reference_name, derived=True))
        return None


@query
def row_of(db: Database, name: str) -> NodeRow | None:
    """The row of a foreach function, None where it has no info of its own."""
    reference, row = reference_of(db, name), source(db, name)
    shape = infos.shape_part(db, synthesized, name)
    if reference is None or row is None or not shape:
        return None
    return _row(foreach_node(row.node, reference.overload) if shape[0][1] else None, reference)


def _row(node: str | None, reference: Reference) -> NodeRow:
    return NodeRow(
        node,
        reference.base,
        reference.name,
        DISPATCH_KEY,
        reference.function,
        reference.definition,
        synthesized=True,
    )


@query
def rows(db: Database) -> list[NodeRow]:
    """Every synthesized info with the Node that it is printed as, in the order in which these are printed."""
    found = (row_of(db, reference.function) for reference in all_references(db))
    return [row for row in found if row is not None]


@table
def row(db: Database) -> dict[str, NodeRow]:
    """The rows by dispatch key and function."""
    return {infos.keyed(found.function, found.dispatch_key): found for found in rows(db)}


class Synthesized(Struct, frozen=True, array_like=True):
    """What the foreach functions of a bucket have instead of derivatives of their own."""

    keys: dict[str, dict[str, bool]]  # as `infos.own_keys`, of those whose infos are synthesized
    borrowed: dict[str, str]  # in-place ones, and the functions whose infos serve them


@query
def served(db: Database, bucket: str) -> Synthesized:
    """What serves the foreach functions of a bucket."""
    listed = references(db, bucket)
    rows = (row_of(db, name) for name in listed)
    keys = {row.function: {row.dispatch_key: row.node is not None} for row in rows if row is not None}
    inplace = (reference for reference in listed.values() if reference.inplace)
    borrowed = {each.function: each.reference for each in inplace if source(db, each.function) is not None}
    return Synthesized(keys, borrowed)


@query
def stage(db: Database) -> int:
    """All synthesized infos."""
    return len([db.digest(served, bucket) for bucket in db.names(buckets)])
