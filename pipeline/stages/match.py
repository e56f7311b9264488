"""Stage `match`: every native function and the derivatives that serve it; the index of all Nodes."""

from collections.abc import Iterable

from msgspec import Struct

from pipeline.grammar.buckets import bucket_of
from pipeline.model.autograd import ForwardDerivative, Info, Reverse
from pipeline.model.native import FunctionHead
from pipeline.model.nodes import Dependent, Keyed, NodeRow, Pair
from pipeline.problems.problem import SpecError, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table, unkept
from pipeline.rules.matching.inplace import check_strides, rewrite_inplace
from pipeline.rules.matching.lost import Suspect, lost, near_misses, suspects
from pipeline.stages import foreach, infos
from pipeline.stages.layered.taking import ordered, participants
from pipeline.stages.schemas import GENERATED, bucket_of_function, buckets, entry_of, function, heads, schema_of

Forward = tuple[str, tuple[ForwardDerivative, ...]]  # by dispatch key


@query
def nodes(db: Database) -> list[tuple[str, NodeRow]]:
    """The Nodes in the order in which they are printed, by dispatch key and function."""
    found = [row for row in (*infos.rows(db), *foreach.rows(db)) if row.node is not None]
    return [(infos.keyed(row.function, row.dispatch_key), row) for row in found]


def node(db: Database, name: str) -> NodeRow | None:
    """The row of a Node."""
    return infos.row.item(db, name) or foreach.row.item(db, name)


def info(db: Database, function: str, dispatch_key: str) -> Info | None:
    """The info of a function under a dispatch key."""
    row = infos.row.item(db, infos.keyed(function, dispatch_key))
    return foreach.info_of(db, function) if row is None else infos.info_of(db, row)


def reverse(db: Database, name: str) -> Reverse | None:
    """What a Node is printed from."""
    row = infos.row.item(db, name)
    if row is not None:
        return infos.reverse_of(db, row)
    made = foreach.row.item(db, name)
    return None if made is None else foreach.reverse_of(db, made)


def defined_by(db: Database, function: str, dispatch_key: str) -> tuple[str, str]:
    """The definition that an info is from, and the operator that it is for."""
    row = infos.row.item(db, infos.keyed(function, dispatch_key))
    if row is not None:
        return row.definition, row.op
    reference = foreach.reference_of(db, function)
    assert reference is not None
    return reference.definition, reference.name


@query
def pairs(db: Database, bucket: str) -> list[Pair]:
    """The functions of a bucket, and whose infos serve them."""
    finder = _Finder(db, bucket)
    return [Pair(name, head.name, head.cpp_name, finder.find(name, head)) for name, head in participants(db, bucket)]


@unkept
def all_pairs(db: Database) -> list[Pair]:
    """All functions in the order in which upstream matches them, and whose infos serve them."""
    return in_order(db, (pair for bucket in db.names(buckets) for pair in pairs(db, bucket)))


def in_order(db: Database, found: Iterable[Pair]) -> list[Pair]:
    """Functions, bucket by bucket, in the order in which upstream matches them."""
    return ordered(db, found, lambda pair: pair.function, lambda pair: pair.cpp_name)


class _Finder:
    """Looks up derivatives: exact match, functional signature, mutable variant, foreach."""

    def __init__(self, db: Database, bucket: str) -> None:
        listed = dict(heads(db, bucket))
        own = infos.own_keys(db, bucket)
        self._own = {name: list(keys) for name, keys in own.items() if keys}
        synthesized = foreach.served(db, bucket)
        self._made = {name: list(keys) for name, keys in synthesized.keys.items()}
        self._borrowed = synthesized.borrowed
        self._functional: dict[str, str] = {}
        self._others: dict[str, str] = {}
        for name in self._own:
            head = listed[name]
            (self._functional if head.kind == "functional" else self._others)[head.plain_signature] = name

    def find(self, name: str, head: FunctionHead) -> dict[str, str] | None:
        if head.generated and head.kind == "out":
            return None
        exact = self._own.get(name) or self._made.get(name)
        if exact is not None:
            return dict.fromkeys(exact, name)
        if not head.is_foreach and head.plain_signature in self._functional:
            return self._shared(self._functional[head.plain_signature])
        if head.generated and head.plain_signature in self._others:
            return self._shared(self._others[head.plain_signature])
        reference = self._borrowed.get(name)
        return None if reference is None else {foreach.DISPATCH_KEY: reference}

    def _shared(self, name: str) -> dict[str, str]:
        return dict.fromkeys(self._own[name], name)


@table
def dependents(db: Database, bucket: str) -> dict[str, Dependent]:
    """In-place functions with derivatives, and functional variants generated from mutable ones."""
    listed = dict(heads(db, bucket))
    found = {}
    for pair in pairs(db, bucket):
        if not pair.source:
            continue
        head = listed[pair.function]
        sources = {listed[name].kind for name in pair.source.values()}
        exact = pair.function in pair.source.values()
        if head.kind == "inplace" or (head.generated and not exact and "functional" not in sources):
            found[pair.function] = Dependent(head.name, head.kind == "inplace", exact, pair.source)
    return found


def dependent_of(db: Database, function: str) -> Dependent | None:
    """A function for which it matters what the infos that serve it say; None where it does not."""
    return dependents.item(db, bucket_of_function(function), function)


@query
def rewritten(db: Database, function: str) -> list[Forward]:
    """Forward derivatives of an in-place function, by dispatch key; none where there is something wrong."""
    dependent = dependent_of(db, function)
    if dependent is None:
        return []
    found: list[Forward] = []
    for key, name in dependent.source.items():
        given = info(db, name, key)
        if given is None:
            continue
        try:
            if dependent.inplace:
                found.append((key, _rewritten(dependent, given)))
            else:
                _check_mutable(dependent, given)
        except SpecError as error:
            if dependent.inplace and given.forward_derivatives and not error.field:
                error.field = (", ".join(given.forward_derivatives[0].var_names),)
            db.report(problem_of(error, "derivatives", *defined_by(db, name, key), derived=True))
    return found


def _rewritten(dependent: Dependent, given: Info) -> tuple[ForwardDerivative, ...]:
    check_strides(given, dependent.name)
    if len(given.forward_derivatives) > 1:
        raise SpecError(
            f"in-place op '{dependent.name}' would have {len(given.forward_derivatives)} forward formulas",
            "an in-place op has one output",
        )
    return tuple(rewrite_inplace(d, given.name, exact=dependent.exact) for d in given.forward_derivatives)


def _check_mutable(dependent: Dependent, given: Info) -> None:
    if any("self" in saved.name for saved in given.all_saved_inputs):
        raise SpecError(
            f"the generated functional variant {dependent.name} would take over formulas that save self,"
            " which the mutable op overwrites",
            "define the derivative of the functional variant",
        )


@query
def rewritten_of(db: Database, bucket: str) -> list[bytes]:
    """What was rewritten for a bucket of functions: digests."""
    return [db.digest(rewritten, function) for function in db.names(dependents, bucket)]


class Derived(Struct, frozen=True, array_like=True):
    """What the search for lost derivatives needs to know of a bucket of functions that somebody wrote."""

    names: list[str]  # of those with derivatives
    suspects: list[Suspect]


@query
def derived(db: Database, bucket: str) -> Derived:
    """The functions of a bucket that may have lost their derivatives, and the names of those that have some."""
    written = [(pair, pair.op.partition(".")[0]) for pair in _written(db, bucket)]
    without = [(pair.function, name) for pair, name in written if pair.source is None]
    found = suspects(without, {name for _, name in written})
    return Derived(sorted({name for pair, name in written if pair.source is not None}), list(found))


def _written(db: Database, bucket: str) -> list[Pair]:
    """The functions of a bucket that are not generated."""
    return [pair for pair in pairs(db, bucket) if not pair.function.startswith(GENERATED)]


@query
def lost_derivatives(db: Database) -> int:
    """The functions without a derivative that surely should have one: a name of theirs is misspelt."""
    known = [derived(db, bucket) for bucket in db.names(buckets)]
    names = dict.fromkeys(sorted(name for each in known for name in each.names))
    found = 0
    for name, called, close in near_misses((suspect for each in known for suspect in each.suspects), names):
        native, bucket = function(db, name), bucket_of(close)
        served = {pair.function for pair in _written(db, bucket) if pair.source is not None}
        others = [head.schema for other, head in heads(db, bucket) if other in served and head.unqualified == close]
        error = lost(called, close, schema_of(db, name), others)
        if error is not None and native is not None and native.is_abstract:
            op = str(native.func.name)
            db.report(problem_of(error, "native", entry_of(name), op, warning=True, derived=True))
            found += 1
    return found


@query
def stage(db: Database) -> int:
    """Which infos serve every function, what was rewritten, and the Nodes."""
    found = [(db.digest(derived, bucket), db.digest(rewritten_of, bucket)) for bucket in db.names(buckets)]
    db.digest(lost_derivatives)
    db.digest(nodes)
    return len(found)


def matched(db: Database, pair: Pair) -> list[Keyed]:
    """The infos that serve a function, by dispatch key."""
    found = ((key, info(db, name, key)) for key, name in (pair.source or {}).items())
    return [(key, given) for key, given in found if given is not None]
