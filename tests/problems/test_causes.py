"""Which problems are worth telling: every combination of two, and a sample of three."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from random import Random

import pytest

from gradmill.problems.causes import causes
from gradmill.problems.problem import CONTRADICTION, LAST, Problem

KINDS = [
    Problem(role, entry, op, "wrong", field=field, warning=warning, derived=derived, rank=rank)
    for role, entry, op, field, warning, derived, rank in product(
        ("native", "derivatives", "tags"),
        ("", "e"),
        ("f.x", "f_", "g"),
        ((), ("func",)),
        (0, 1),
        (0, 1),
        (0, 1, CONTRADICTION, LAST),
    )
    for warning, derived in ((bool(warning), bool(derived)),)
]


@pytest.fixture(scope="module")
def sets() -> list[Sequence[Problem]]:
    chance = Random(0)
    return [*combinations(KINDS, 2), *(chance.sample(KINDS, 3) for _ in range(50_000))]


def errors(problems: list[Problem]) -> list[Problem]:
    return [problem for problem in problems if not problem.warning]


def test_a_set_with_an_error_always_has_one_reported(sets: list[Sequence[Problem]]) -> None:
    assert [actual for actual in sets if errors(list(actual)) and not errors(causes(actual))] == []


def test_a_warning_hides_no_error(sets: list[Sequence[Problem]]) -> None:
    mixed = [list(actual) for actual in sets if 0 < len(errors(list(actual))) < len(actual)]
    assert [actual for actual in mixed if errors(causes(actual)) != causes(errors(actual))] == []


def test_a_single_problem_is_reported() -> None:
    assert [kind for kind in KINDS if causes([kind, kind]) != [kind]] == []


def test_what_may_follow_from_anything_hides_nothing() -> None:
    twice = Problem("native", "a", "f.x", "declared twice", field=("func",), derived=True, rank=1)
    without = Problem("native", "a", "f_.x", "has no derivatives", rank=LAST)
    assert causes([twice, without]) == causes([without, twice]) == [twice]


def test_consequences_of_an_unreadable_definition_are_not_reported() -> None:
    view = Problem("native", "v", "v.x", "cannot be held", rank=CONTRADICTION)
    other = Problem("native", "w", "w.x", "cannot be held", rank=CONTRADICTION)
    file = Problem("derivatives", "", "", "not YAML")
    definition = Problem("derivatives", "v", "v.x", "a formula is wrong", derived=True)
    assert causes([file, view, other]) == [file]
    assert causes([definition, view, other]) == [definition, other]
    assert causes([view, other]) == [view, other]


def test_an_error_covers_a_warning_about_the_whole_field() -> None:
    error = Problem(
        "derivatives", "e", "f", "3 values for 2 outputs", field=("output_differentiability",), derived=True
    )
    warning = Problem(
        "derivatives", "e", "f", "3 values", field=("output_differentiability",), warning=True, derived=True
    )
    word = Problem("derivatives", "e", "f", "unknown name", field=("self",), needle="x", warning=True, derived=True)
    formula = Problem("derivatives", "e", "f", "mixed", field=("self",), derived=True)
    assert causes([warning, error]) == [error]
    assert causes([warning]) == [warning]
    assert causes([word, formula]) == [word, formula]


def test_what_is_wrong_in_a_formula_is_told_once_for_all_functions_that_it_serves() -> None:
    view = Problem("derivatives", "v", "v", "unknown word", field=("result",), needle="autolinear", derived=True)
    copy = Problem("derivatives", "v", "v_copy", "unknown word", field=("result",), needle="autolinear", derived=True)
    other = Problem("derivatives", "v", "v", "unknown word", field=("result",), needle="autolnear", derived=True)
    assert causes([view, copy, other]) == [view, other]
