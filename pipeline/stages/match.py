"""Stage `match`: every native function and the derivatives that serve it.

Reads `Functions`, `Infos` and `Foreach`; writes `Pairs` and `Dependents`, which infos serve a function, `Rewritten`,
and `Nodes`, the index of all that is to be printed. Pairs are looked up again when a function changed, or which
functions have infos; an in-place function's forward derivatives are rewritten again when its infos changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from msgspec import Raw

from pipeline.model.artifact import digest_of, encode
from pipeline.model.autograd import ForwardDerivative, Info
from pipeline.model.functions import Functions, FunctionTable
from pipeline.model.infos import (
    Dependent,
    Dependents,
    Foreach,
    InfoRow,
    Infos,
    NodeRow,
    Nodes,
    Pair,
    Pairs,
    Rewritten,
    RewrittenRow,
)
from pipeline.model.native import FunctionHead
from pipeline.problems.problem import Problem, SpecError, problem_of
from pipeline.rules.derivatives.inplace import rewrite_inplace


class Paired(NamedTuple):
    pairs: Pairs
    dependents: Dependents


class Rewrote(NamedTuple):
    rewritten: Rewritten
    problems: list[Problem]


class _Source(NamedTuple):
    """The functions whose infos serve another, by dispatch key, and whether these were written for it."""

    schemas: dict[str, str]
    exact: bool
    mutable: bool = False  # they were written for the mutable function that it was generated from


def pairs_key(functions: FunctionTable, infos: Infos, foreach: Foreach) -> bytes:
    """What the pairs follow from."""
    borrowed = [part for pair in foreach.borrowed.items() for part in pair]
    return digest_of((functions.name, infos.shape, foreach.infos.shape, *borrowed))


def find_pairs(functions: Functions, infos: Infos, foreach: Foreach) -> Paired:
    """All functions in the order in which upstream matches them."""
    finder = _Finder(functions, infos, foreach)
    pairs = []
    dependents = []
    for head in sorted(functions.heads, key=attrgetter("cpp_name")):
        source = finder.find(head) if finder.may_find(head) else None
        pairs.append(Pair(head.schema, source.schemas if source is not None else None))
        if source is not None and (head.kind == "inplace" or source.mutable):
            dependents.append(Dependent(head.schema, head.name, head.kind == "inplace", source.exact, source.schemas))
    return Paired(Pairs(tuple(pairs)), Dependents(tuple(dependents)))


class _Finder:
    """Looks up derivatives: exact match, functional signature, mutable variant, foreach."""

    def __init__(self, functions: Functions, infos: Infos, foreach: Foreach) -> None:
        self._infos = infos
        self._foreach = foreach
        self._functional: dict[str, str] = {}
        self._others: dict[str, str] = {}
        for schema in infos.by_schema:
            head = functions.heads[functions.by_schema[schema]]
            (self._functional if head.kind == "functional" else self._others)[head.plain_signature] = schema
        own = (infos.by_schema, foreach.infos.by_schema, foreach.borrowed)
        self._schemas = frozenset(schema for table in own for schema in table)
        self._signatures = frozenset((*self._functional, *self._others))

    def may_find(self, head: FunctionHead) -> bool:
        """False of most functions: none has a derivative under their schema or signature."""
        return head.schema in self._schemas or head.plain_signature in self._signatures

    def find(self, head: FunctionHead) -> _Source | None:
        if head.generated and head.kind == "out":
            return None
        exact = self._infos.by_schema.get(head.schema) or self._foreach.infos.by_schema.get(head.schema)
        if exact is not None:
            return _Source(dict.fromkeys(exact, head.schema), True)
        if not head.is_foreach and head.plain_signature in self._functional:
            return self._shared(self._functional[head.plain_signature])
        if head.generated and head.plain_signature in self._others:
            return self._shared(self._others[head.plain_signature], mutable=True)
        borrowed = self._foreach.borrowed.get(head.schema)
        if borrowed is not None:
            return _Source({"Default": borrowed}, False)
        return None

    def _shared(self, schema: str, *, mutable: bool = False) -> _Source:
        return _Source(dict.fromkeys(self._infos.by_schema[schema], schema), False, mutable)


def rewrite(dependents: Dependents, infos: Infos, foreach: Foreach, old: Rewritten | None) -> Rewrote:
    """What depends on the content of infos, and every mistake found on the way. `old` is the last result."""
    known = old.rows if old is not None else {}
    problems: list[Problem] = []
    rewritten = {}
    for dependent in dependents.rows:
        sources = {key: _source(schema, infos, foreach) for key, schema in dependent.source.items()}
        digests = (table.digests[dependent.source[key], key] for key, table in sources.items())
        key = digest_of((dependent.name, f"{dependent.inplace} {dependent.exact}", *digests))
        row = known.get(dependent.func)
        if row is None or row.key != key:
            found = len(problems)
            rows = {k: (table.by_schema[dependent.source[k]][k], table) for k, table in sources.items()}
            served = [(k, row, table.info(row)) for k, (row, table) in rows.items()]
            made = (
                _rewrite(dependent, served, problems)
                if dependent.inplace
                else _check_mutable(dependent, served, problems)
            )
            if len(problems) > found:
                continue
            row = RewrittenRow(key, Raw(encode(made)))
        rewritten[dependent.func] = row
    return Rewrote(Rewritten(rewritten), problems)


def _source(schema: str, infos: Infos, foreach: Foreach) -> Infos:
    return foreach.infos if schema in foreach.infos.by_schema else infos


Served = Iterable[tuple[str, InfoRow, Info]]


def _check_mutable(
    dependent: Dependent, served: Served, problems: list[Problem]
) -> dict[str, tuple[ForwardDerivative, ...]]:
    for _, row, info in served:
        if any("self" in saved.name for saved in info.all_saved_inputs):
            error = SpecError(
                f"the generated functional variant {dependent.func} would take over formulas that save self,"
                " which the mutable op overwrites",
                "define the derivative of the functional variant",
            )
            problems.append(problem_of(error, "derivatives", row.entry, row.schema.partition("(")[0]))
    return {}


def _rewrite(dependent: Dependent, served: Served, problems: list[Problem]) -> dict[str, tuple[ForwardDerivative, ...]]:
    """Forward derivatives of an in-place op, by dispatch key."""
    rewritten = {}
    for key, row, info in served:
        try:
            _check_strides(dependent, info)
            if len(info.forward_derivatives) > 1:
                raise SpecError(
                    f"in-place op '{dependent.name}' would have {len(info.forward_derivatives)} forward formulas",
                    "an in-place op has one output",
                )
            rewritten[key] = tuple(
                rewrite_inplace(d, info.name, exact=dependent.exact) for d in info.forward_derivatives
            )
        except SpecError as error:
            if info.forward_derivatives and not error.field:
                error.field = (", ".join(info.forward_derivatives[0].var_names),)
            problems.append(problem_of(error, "derivatives", row.entry, row.schema.partition("(")[0]))
    return rewritten


def _check_strides(dependent: Dependent, info: Info) -> None:
    for derivative in info.derivatives:
        if "self" in derivative.var_names and any("strides_or_error" in s.expr for s in derivative.saved_inputs):
            raise SpecError(
                f"the formula for self asks for strides, and serves the in-place op '{dependent.name}', whose self is"
                " overwritten",
                "define the in-place op's derivative itself",
                field=(", ".join(derivative.var_names),),
                needle="strides",
            )


def nodes(infos: Infos, foreach: Foreach) -> Nodes:
    """The index of all Nodes."""
    rows = []
    for synthesized, table in ((False, infos), (True, foreach.infos)):
        for row in table.rows:
            if row.node is not None:
                found = table.digests[row.schema, row.dispatch_key]
                rows.append(NodeRow(row.node, row.name, row.schema, row.dispatch_key, row.entry, synthesized, found))
    return Nodes(tuple(rows))
