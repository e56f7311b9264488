"""Stage `match`: every native function and the derivatives that serve it; the index of all Nodes.

torchgen: `autograd.match_differentiability_info`.
"""

from collections.abc import Iterable

from msgspec import Struct

from gradmill.grammar.buckets import bucket_of
from gradmill.model.autograd import ForwardDerivative, Info, Reverse
from gradmill.model.layers import layer_of
from gradmill.model.nodes import Dependent, FunctionWithInfo, Keyed, NodeRow
from gradmill.problems.problem import CONTRADICTION, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table, unkept
from gradmill.rules.matching.finder import Finder
from gradmill.stages import foreach, infos, selection
from gradmill.stages.layered.participation import ordered, participants
from gradmill.stages.schemas import GENERATED, bucket_of_function, buckets, entry_of, function, heads, report_between
from gradmill.stages.specs import value

Forward = tuple[str, tuple[ForwardDerivative, ...]]  # by dispatch key


@query
def nodes(db: Database) -> list[tuple[str, NodeRow]]:
    """The Nodes in the order in which they are printed, by dispatch key and function; of those that are synthesized
    the ones of selected functions."""
    synthesized = [each for each in foreach.rows(db).items() if selection.is_selected(db, each[1].function)]
    return [(name, row) for name, row in (*infos.rows(db).items(), *synthesized) if row.node is not None]


def node(db: Database, name: str) -> NodeRow | None:
    """The row of a Node, by its key; None if there is none."""
    return infos.rows.item(db, name) or foreach.rows.item(db, name)


def info(db: Database, function: str, dispatch_key: str) -> Info | None:
    """The info of a function under a dispatch key; None if there is none."""
    row = infos.rows.item(db, infos.keyed(function, dispatch_key))
    return foreach.info_of(db, function) if row is None else infos.info_of(db, row)


def reverse(db: Database, name: str) -> Reverse | None:
    """The part of an info that a Node is printed from; None if there is none."""
    row = node(db, name)
    if row is None:
        return None
    return foreach.reverse_of(db, row) if row.synthesized else infos.reverse_of(db, row)


def defined_by(db: Database, function: str, dispatch_key: str) -> tuple[str, str]:
    """The entry of the definition that an info is from, and the operator's name."""
    row = infos.rows.item(db, infos.keyed(function, dispatch_key))
    if row is not None:
        return row.definition, row.op
    reference = foreach.reference_of(db, function)
    assert reference is not None
    return reference.definition, reference.name


@query
def pairs(db: Database, bucket: str) -> list[FunctionWithInfo]:
    """The functions of a bucket, each with the functions that have the infos that serve it."""
    own, synthesized = infos.own_keys(db, bucket), foreach.synthesized_in(db, bucket)
    finder = Finder(dict(heads(db, bucket)), own, synthesized.keys, synthesized.borrowed)
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
    from gradmill.rules.matching.inplace import check_mutable, rewritten_inplace  # only for formulas that changed

    forwards: list[Forward] = []
    for key, name in dependent.source.items():
        own = info(db, name, key)
        if own is None:
            continue
        try:
            if dependent.inplace:
                forwards.append((key, rewritten_inplace(own, dependent)))
            else:
                check_mutable(own, dependent)
        except SpecError as error:
            if dependent.inplace and own.forward_derivatives and not error.field:
                error.field = (", ".join(own.forward_derivatives[0].var_names),)
            db.report(problem_of(error, "derivatives", *defined_by(db, name, key), derived=True))
    return forwards


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
    """The functions of a bucket that may have lost their derivatives, and the names of those that have some. Reports
    variants of a layer that differ from those with derivatives."""
    from gradmill.lints.lost import suspects  # only needed for names that changed

    written = _written(db, bucket)
    without = [(pair.function, pair.op) for pair in written if pair.source is None]
    if any(layer_of(entry_of(function)) for function, _ in without):
        _report_underived(db, bucket, written)
    lost_ones = suspects(without, {pair.op for pair in written})
    names = {pair.op.partition(".")[0] for pair in written if pair.source is not None}
    return Derived(sorted(names), list(lost_ones))


def _report_underived(db: Database, bucket: str, written: list[FunctionWithInfo]) -> None:
    from gradmill.lints.split import underived

    sources = {pair.function: pair.source for pair in written if layer_of(entry_of(pair.function))}
    listed = [each for each in heads(db, bucket) if each[0] in sources]
    derived = {i for i, (name, _) in enumerate(listed) if sources[name] is not None or not _may_lose(db, name)}
    errors = list(underived([head for _, head in listed], derived))
    report_between(db, errors, listed, CONTRADICTION, warning=True)


def _may_lose(db: Database, name: str) -> bool:
    """Whether a function without derivatives has none. A composite has those of what it calls, but one of a layer whose
    entry does not say so may have kernels elsewhere."""
    native, entry = function(db, name), entry_of(name)
    fields = value(db, "native", entry) if layer_of(entry) else None
    return native is not None and (native.is_abstract or (isinstance(fields, dict) and "dispatch" not in fields))


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
        own, bucket = dict(heads(db, bucket_of_function(name)))[name], bucket_of(close)
        defined = {pair.function for pair in _written(db, bucket) if pair.source is not None}
        others = [head for other, head in heads(db, bucket) if other in defined and head.unqualified == close]
        error = lost(own, close, others)
        if error is not None and _may_lose(db, name):
            db.report(problem_of(error, "native", entry_of(name), operator, warning=True, derived=True))
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
