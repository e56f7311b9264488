"""Statements of graphs know the variables that they use: passes free values, and split functions, by that alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest

from gradmill.extensions.graphs.ir import Declare, Do, Let, Stmt, When, code, merged, uses
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import backward, forward
from gradmill.extensions.graphs.print.statements import lines
from gradmill.extensions.graphs.queries import graphs, planned
from graphs.reading import Reading
from graphs.test_eager import REAL, SUITE

WORD = re.compile(r"(?<![\w.:>])[^\W\d]\w*")
NO_CODE = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')  # strings and comments


@pytest.fixture(scope="module")
def plans() -> list[GraphPlan]:
    """The plans of the core set's graphs and of others, their branches and variants."""
    found: list[GraphPlan] = []
    for path, specs, twice in ((SUITE, "core", "1"), (REAL, "torch", "0")):
        db = Reading(path, specs, double_backward=twice).build.db
        of_file = [planned.plan(db, file, name) for file, name in graphs.all_names(db)]
        found += [one for each in of_file if each is not None for one in each.functions]
    return found


def declared(statements: Iterable[Stmt]) -> Iterator[str]:
    """The variables that statements declare."""
    for each in statements:
        if isinstance(each, Let | Declare):
            yield from each.names


def test_a_statement_knows_each_variable_in_its_text(plans: list[GraphPlan]) -> None:
    checked = 0
    for plan in plans:
        of_backward = [*backward.declarations(plan), *backward.statements(plan)]
        for body in (forward.statements(plan), of_backward):
            known = {*declared(body), *plan.functional.names.values()}
            for each in body:
                words = {*WORD.findall(NO_CODE.sub("", "\n".join(lines([each]))))}
                assert words & known <= uses([each]).keys(), (plan.name, lines([each]))
                checked += bool(words & known)
    assert len(plans) > 350 and checked > 4000


def test_statements_under_one_condition_are_merged_if_they_are_adjacent() -> None:
    one, other = (When(code("needs[0]"), (Do(code(call)),)) for call in ("f()", "g()"))
    between = Do(code("h()"))
    assert lines(merged([one, other])) == ["if (needs[0]) {", "  f();", "  g();", "}"]
    assert merged([one, between, other]) == [one, between, other]
    chosen = When(code("needs[0]"), (between,), (between,))
    assert merged([chosen, one]) == [chosen, one]
