"""Statements of graphs know the variables that they use: passes free values, and split functions, by that alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest

from gradmill.extensions.graphs.ir import (
    Code,
    Declare,
    Do,
    Free,
    Let,
    Stmt,
    When,
    Within,
    code,
    filled,
    merged,
    uses,
    variable,
)
from gradmill.extensions.graphs.passes.schedule import with_first_uses, with_frees
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


def let(name: str, value: Code) -> Let:
    return Let("auto", (name,), value)


def test_values_are_freed_after_their_last_use_in_the_order_of_the_text() -> None:
    blocks = [
        [let("a", code("f($)", variable("x"))), let("b", code("1"))],
        [let("c", code("g($, $)", variable("b"), variable("a")))],
        [When(code("needs[0]"), (Do(code("h($, $)", variable("c"), variable("saved.s"))),))],
    ]
    freed = [each for each in with_frees(blocks, {"a", "b", "c"}, {"saved.s"}) if isinstance(each, Free)]
    assert freed == [Free(("b", "a")), Free(("c",)), Free(("saved.s",), last=True)]


def test_a_recomputed_value_is_before_its_first_use_and_after_what_it_uses() -> None:
    blocks = [[Do(code("one()"))], [Do(code("two($)", variable("b")))], [Do(code("three($)", variable("a")))]]
    remade = {name: let(name, value) for name, value in {"a": code("0"), "b": variable("a"), "c": code("2")}.items()}
    placed = [lines(block) for block in with_first_uses(blocks, remade)]
    assert placed == [["one();"], ["auto a = 0;"], ["auto b = a;"], ["two(b);"], ["three(a);"]]


def test_statements_under_one_condition_are_merged_if_they_are_adjacent() -> None:
    one, other = (When(code("needs[0]"), (Do(code(call)),)) for call in ("f()", "g()"))
    between = Do(code("h()"))
    assert lines(merged([one, other])) == ["if (needs[0]) {", "  f();", "  g();", "}"]
    assert merged([one, between, other]) == [one, between, other]
    chosen = When(code("needs[0]"), (between,), (between,))
    assert merged([chosen, one]) == [chosen, one]


def test_expressions_are_equal_if_their_text_and_their_variables_are() -> None:
    assert code("f($)", "1") == code("f(1)") == code("$$", "f(", "1)")
    assert code("$ + $", variable("a"), "1") == filled("{x} + {y}", {"x": variable("a"), "y": code("1")})
    assert code("$", variable("a")) != code("a")
    call = Within(code("call($, [&]", variable("x")), (Do(code("f($)", variable("y"))),), ")")
    assert (lines([call]), [*uses([call])]) == (["call(x, [&] {", "  f(y);", "});"], ["x", "y"])
