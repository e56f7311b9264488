"""Inputs that share memory: a variant of the graph for each combination, with a synthetic base."""

from __future__ import annotations

from typing import Annotated

import pytest
from torch import Tensor

from graphs.planning import Planner, outputs, steps, updates
from pipeline.graphs.functional.bases import sharings
from pipeline.graphs.model import Function, GraphError, Place


def test_both_are_views_of_the_base_and_a_write_reaches_both(plan: Planner) -> None:
    def f(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
        x.sin_()
        return y.exp()

    graph = plan(f)
    assert steps(graph.functional) == ["x_2 = sin_(x)", "exp = exp(y)"]
    (variant,) = graph.variants
    assert variant.shared == (("x", "y"),)
    program = variant.plan.functional
    assert steps(program) == [
        "x = as_strided(x_size, x_stride, x_offset, base_0) as a view",
        "y = as_strided(y_size, y_stride, y_offset, base_0) as a view",
        "x_2 = sin_(x)",
        "base_0_2 = base_0 with x_2 at as_strided",
        "y_2 = as_strided(y_size, y_stride, y_offset, base_0_2) as a view",
        "exp = exp(y_2)",
    ]
    assert (updates(program), outputs(program)) == (["base_0.copy_(base_0_2)"], ["exp"])


def test_without_a_write_there_is_no_variant(plan: Planner) -> None:
    def f(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
        return x * y

    assert plan(f).variants == ()


def function(*groups: str) -> Function:
    """A function with groups of inputs that may share memory; each input is a letter."""
    return Function("f", Place(3, 1), (), (), (), True, tuple(map(tuple, groups)))


def test_each_set_has_an_input_that_is_written_to() -> None:
    assert sharings(function("xyz"), ["x"]) == [(("x", "y", "z"),), (("x", "y"),), (("x", "z"),)]


def test_sets_of_separate_groups_are_combined() -> None:
    combined = sharings(function("ab", "cd"), ["a", "c"])
    assert combined == [(("a", "b"), ("c", "d")), (("c", "d"),), (("a", "b"),)]


def test_too_many_combinations_are_an_error_at_the_function() -> None:
    with pytest.raises(GraphError, match="more than 32 ways") as error:
        sharings(function("abcdefg"), ["a"])
    assert error.value.place.line == 3
