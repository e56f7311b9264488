"""Stage `match`: every native function and the derivatives that serve it.

Reads `Functions`, `Infos` and `Foreach`; writes `Matches`, and `Nodes`, the index of all that is to be printed.
"""

from __future__ import annotations

from typing import NamedTuple

from pipeline.model.autograd import ForwardDerivative, Info
from pipeline.model.functions import Functions
from pipeline.model.infos import Foreach, InfoRow, Infos, Matched, Matches, NodeRow, Nodes
from pipeline.model.native import FunctionHead
from pipeline.problems import Problem, SpecError, problem_of
from pipeline.rules.inplace import rewrite_inplace


class MatchedAll(NamedTuple):
    matches: Matches
    nodes: Nodes
    problems: list[Problem]


class _Source(NamedTuple):
    """The infos that serve a function, by dispatch key, and whether they were written for it."""

    rows: dict[str, InfoRow]
    exact: bool


def run(functions: Functions, infos: Infos, foreach: Foreach) -> MatchedAll:
    """All functions in the order in which upstream matches them, and every mistake found on the way."""
    finder = _Finder(functions, infos, foreach)
    problems: list[Problem] = []
    rows = []
    for head in sorted(functions.heads, key=lambda h: h.cpp_name):
        source = finder.find(head, problems)
        if source is None:
            rows.append(Matched(head.schema, None))
            continue
        names = {key: row.schema for key, row in source.rows.items()}
        rewritten = _rewrite(head, source, finder, problems) if head.kind == "inplace" else None
        rows.append(Matched(head.schema, names, rewritten))
    return MatchedAll(Matches(tuple(rows)), _nodes(infos, foreach), problems)


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

    def info(self, row: InfoRow) -> Info:
        return (self._foreach.infos if row.schema in self._foreach.infos.by_schema else self._infos).info(row)

    def find(self, head: FunctionHead, problems: list[Problem]) -> _Source | None:
        if head.generated and head.kind == "out":
            return None
        exact = self._infos.by_schema.get(head.schema) or self._foreach.infos.by_schema.get(head.schema)
        if exact is not None:
            return _Source(exact, True)
        if not head.is_foreach and head.plain_signature in self._functional:
            return _Source(self._infos.by_schema[self._functional[head.plain_signature]], False)
        if head.generated and head.plain_signature in self._others:
            rows = self._infos.by_schema[self._others[head.plain_signature]]
            self._check_mutable(head, rows, problems)
            return _Source(rows, False)
        borrowed = self._foreach.borrowed.get(head.schema)
        if borrowed is not None:
            return _Source({"Default": self._infos.by_schema[borrowed]["Default"]}, False)
        return None

    def _check_mutable(self, head: FunctionHead, rows: dict[str, InfoRow], problems: list[Problem]) -> None:
        for row in rows.values():
            if any("self" in saved.name for saved in self.info(row).all_saved_inputs):
                error = SpecError(
                    f"the generated functional variant {head.schema} would take over formulas that save self,"
                    " which the mutable op overwrites",
                    "define the derivative of the functional variant",
                )
                problems.append(problem_of(error, "derivatives", row.entry, row.schema.partition("(")[0]))


def _rewrite(
    head: FunctionHead, source: _Source, finder: _Finder, problems: list[Problem]
) -> dict[str, tuple[ForwardDerivative, ...]]:
    """Forward derivatives of an in-place op, by dispatch key."""
    rewritten = {}
    for key, row in source.rows.items():
        info = finder.info(row)
        try:
            _check_strides(head, info)
            if len(info.forward_derivatives) > 1:
                raise SpecError(
                    f"in-place op '{head.name}' would have {len(info.forward_derivatives)} forward formulas",
                    "an in-place op has one output",
                )
            rewritten[key] = tuple(rewrite_inplace(d, info.name, exact=source.exact) for d in info.forward_derivatives)
        except SpecError as error:
            if info.forward_derivatives and not error.field:
                error.field = (", ".join(info.forward_derivatives[0].var_names),)
            problems.append(problem_of(error, "derivatives", row.entry, row.schema.partition("(")[0]))
    return rewritten


def _check_strides(head: FunctionHead, info: Info) -> None:
    for derivative in info.derivatives:
        if "self" in derivative.var_names and any("strides_or_error" in s.expr for s in derivative.saved_inputs):
            raise SpecError(
                f"the formula for self asks for strides, and serves the in-place op '{head.name}', whose self is"
                " overwritten",
                "define the in-place op's derivative itself",
                field=(", ".join(derivative.var_names),),
                needle="strides",
            )


def _nodes(infos: Infos, foreach: Foreach) -> Nodes:
    rows = []
    for synthesized, table in ((False, infos), (True, foreach.infos)):
        for row in table.rows:
            if row.node is not None:
                rows.append(
                    NodeRow(row.node, row.name, row.schema, row.dispatch_key, row.entry, synthesized, row.digest)
                )
    return Nodes(tuple(rows))
