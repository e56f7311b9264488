"""Stage `match`: every native function and the derivatives that serve it; the index of all Nodes.

torchgen: `autograd.match_differentiability_info`.
"""

from collections.abc import Iterable

from msgspec import Struct

from gradmill.grammar.buckets import bucket_of
from gradmill.model.autograd import ForwardDerivative, Info, Reverse
from gradmill.model.native import FunctionSummary
from gradmill.model.nodes import Dependent, FunctionWithInfo, Keyed, NodeRow
from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table, unkept
from gradmill.stages import foreach, infos, selection
from gradmill.stages.layered.participation import ordered, participants
from gradmill.stages.schemas import GENERATED, bucket_of_function, buckets, entry_of, function, heads, schema_of

Forward = tuple[str, tuple[ForwardDerivative, ...]]  # by dispatch key


@query
def nodes(db: Database) -> list[tuple[str, NodeRow]]:
    """The Nodes in the order in which they are printed, by dispatch key and function; of those that are synthesized
    the ones of selected functions."""
    synthesized = [row for row in foreach.rows(db) if selection.is_selected(db, row.function)]
    node_rows = [row for row in (*infos.rows(db), *synthesized) if row.node is not None]
    return [(infos.keyed(row.function, row.dispatch_key), row) for row in node_rows]


def node(db: Database, name: str) -> NodeRow | None:
    """The row of a Node, by its key; None if there is none."""
    return infos.row.item(db, name) or foreach.row.item(db, name)


def info(db: Database, function: str, dispatch_key: str) -> Info | None:
    """The info of a function under a dispatch key; None if there is none."""
    row = infos.row.item(db, infos.keyed(function, dispatch_key))
    return foreach.info_of(db, function) if row is None else infos.info_of(db, row)


def reverse(db: Database, name: str) -> Reverse | None:
    """The part of an info that a Node is printed from; None if there is none."""
    row = infos.row.item(db, name)
    if row is not None:
        return infos.reverse_of(db, row)
    synthesized = foreach.row.item(db, name)
    return None if synthesized is None else foreach.reverse_of(db, synthesized)


def defined_by(db: Database, function: str, dispatch_key: str) -> tuple[str, str]:
    """The entry of the definition that an info is from, and the operator's name."""
    row = infos.row.item(db, infos.keyed(function, dispatch_key))
    if row is not None:
        return row.definition, row.op
    reference = foreach.reference_of(db, function)
    assert reference is not None
    return reference.definition, reference.name


@query
def pairs(db: Database, bucket: str) -> list[FunctionWithInfo]:
    """The functions of a bucket, each with the functions that have the infos that serve it."""
    finder = _Finder(db, bucket)
    return [
        FunctionWithInfo(name, head.name, head.cpp_name, finder.find(name, head))
        for name, head in participants(db, bucket)
    ]


@unkept
def all_pairs(db: Database) -> list[FunctionWithInfo]:
    """The pairs of all functions, in the order in which upstream matches them."""
    return in_order(db, (pair for bucket in db.names(buckets) for pair in pairs(db, bucket)))


def in_order(db: Database, unsorted: Iterable[FunctionWithInfo]) -> list[FunctionWithInfo]:
    """Pairs, which come bucket by bucket, in the order in which upstream matches them."""
    return ordered(db, unsorted, lambda pair: pair.function, lambda pair: pair.cpp_name)


class _Finder:
    """Looks up derivatives: exact match, functional signature, mutable variant, foreach."""

    def __init__(self, db: Database, bucket: str) -> None:
        listed = dict(heads(db, bucket))
        own = infos.own_keys(db, bucket)
        self._own = {name: list(keys) for name, keys in own.items() if keys}
        synthesized = foreach.synthesized_in(db, bucket)
        self._synthesized = {name: list(keys) for name, keys in synthesized.keys.items()}
        self._borrowed = synthesized.borrowed
        self._functional: dict[str, str] = {}
        self._others: dict[str, str] = {}
        for name in self._own:
            head = listed[name]
            (self._functional if head.kind == "functional" else self._others)[head.plain_signature] = name

    def find(self, name: str, head: FunctionSummary) -> dict[str, str] | None:
        if head.generated and head.kind == "out":
            return None
        exact = self._own.get(name) or self._synthesized.get(name)
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
    """The in-place functions with derivatives, and the functional variants generated from mutable ones, by function."""
    listed = dict(heads(db, bucket))
    by_function = {}
    for pair in pairs(db, bucket):
        if not pair.source:
            continue
        head = listed[pair.function]
        sources = {listed[name].kind for name in pair.source.values()}
        exact = pair.function in pair.source.values()
        if head.kind == "inplace" or (head.generated and not exact and "functional" not in sources):
            by_function[pair.function] = Dependent(head.name, head.kind == "inplace", exact, pair.source)
    return by_function


def dependent_of(db: Database, function: str) -> Dependent | None:
    """A function that must check or rewrite the infos that serve it; None if it uses them unchanged."""
    return dependents.item(db, bucket_of_function(function), function)


@query
def rewritten(db: Database, function: str) -> list[Forward]:
    """Forward derivatives of an in-place function, by dispatch key; none if there are errors, which are reported."""
    dependent = dependent_of(db, function)
    if dependent is None:
        return []
    forwards: list[Forward] = []
    for key, name in dependent.source.items():
        own = info(db, name, key)
        if own is None:
            continue
        try:
            if dependent.inplace:
                forwards.append((key, _rewritten(dependent, own)))
            else:
                _check_mutable(dependent, own)
        except SpecError as error:
            if dependent.inplace and own.forward_derivatives and not error.field:
                error.field = (", ".join(own.forward_derivatives[0].var_names),)
            db.report(problem_of(error, "derivatives", *defined_by(db, name, key), derived=True))
    return forwards


def _rewritten(dependent: Dependent, own: Info) -> tuple[ForwardDerivative, ...]:
    from gradmill.rules.matching.inplace import check_strides, rewrite_inplace  # only needed for formulas that changed

    check_strides(own, dependent.name)
    if len(own.forward_derivatives) > 1:
        raise SpecError(
            f"in-place op '{dependent.name}' would have {len(own.forward_derivatives)} forward formulas",
            "an in-place op has one output",
        )
    return tuple(rewrite_inplace(d, own.name, exact=dependent.exact) for d in own.forward_derivatives)


def _check_mutable(dependent: Dependent, own: Info) -> None:
    if any("self" in saved.name for saved in own.all_saved_inputs):
        raise SpecError(
            f"the generated functional variant {dependent.name} would take over formulas that save self,"
            " which the mutable op overwrites",
            "define the derivative of the functional variant",
        )


@query
def rewritten_of(db: Database, bucket: str) -> list[bytes]:
    """The digests of the rewritten derivatives of a bucket of functions."""
    return [db.digest(rewritten, function) for function in db.names(dependents, bucket)]


class Derived(Struct, frozen=True, array_like=True):
    """The declared functions of a bucket, as the search for lost derivatives needs them."""

    names: list[str]  # of those with derivatives
    suspects: list[tuple[str, str]]  # as `lost.Suspect`


@query
def derived(db: Database, bucket: str) -> Derived:
    """The functions of a bucket that may have lost their derivatives, and the names of those that have some."""
    from gradmill.lints.lost import suspects  # only needed for names that changed

    written = [(pair, pair.op.partition(".")[0]) for pair in _written(db, bucket)]
    without = [(pair.function, name) for pair, name in written if pair.source is None]
    lost_ones = suspects(without, {name for _, name in written})
    return Derived(sorted({name for pair, name in written if pair.source is not None}), list(lost_ones))


def _written(db: Database, bucket: str) -> list[FunctionWithInfo]:
    """The pairs of the declared functions of a bucket."""
    return [pair for pair in pairs(db, bucket) if not pair.function.startswith(GENERATED)]


@query
def lost_derivatives(db: Database) -> int:
    """Reports functions without a derivative that should have one, as a name is misspelt; returns their number."""
    from gradmill.lints.lost import lost, near_misses

    known = [derived(db, bucket) for bucket in db.names(buckets)]
    names = dict.fromkeys(sorted(name for each in known for name in each.names))
    count = 0
    for name, operator, close in near_misses((suspect for each in known for suspect in each.suspects), names):
        native, bucket = function(db, name), bucket_of(close)
        defined = {pair.function for pair in _written(db, bucket) if pair.source is not None}
        others = [head.schema for other, head in heads(db, bucket) if other in defined and head.unqualified == close]
        error = lost(operator, close, schema_of(db, name), others)
        if error is not None and native is not None and native.is_abstract:
            op = str(native.func.name)
            db.report(problem_of(error, "native", entry_of(name), op, warning=True, derived=True))
            count += 1
    return count


@query
def stage(db: Database) -> int:
    """Validates the infos of all functions, the rewritten ones, and the Nodes; returns the number of buckets."""
    digests = [(db.digest(derived, bucket), db.digest(rewritten_of, bucket)) for bucket in db.names(buckets)]
    db.digest(lost_derivatives)
    db.digest(selection.checked)
    db.digest(nodes)
    return len(digests)


def matched(db: Database, pair: FunctionWithInfo) -> list[Keyed]:
    """The infos that serve a function, by dispatch key."""
    candidates = ((key, info(db, name, key)) for key, name in (pair.source or {}).items())
    return [(key, own) for key, own in candidates if own is not None]
