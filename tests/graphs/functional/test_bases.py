"""Inputs that share memory: a variant of the graph for each way in which they may, with a base in their place."""

from __future__ import annotations

from typing import Annotated

import pytest
from torch import Tensor

from graphs.planning import Planner, outputs, steps, updates
from pipeline.graphs.errors import GraphError
from pipeline.graphs.functional.bases import sharings
from pipeline.graphs.model import Function, Place


def test_both_are_views_of_the_base_and_a_write_reaches_both(plan: Planner) -> None:
    def f(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
        x.sin_()
        return y.exp()

    found = plan(f)
    assert steps(found.functional) == ["x_2 = sin_(x)", "exp = exp(y)"]
    (variant,) = found.variants
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


def test_where_none_is_written_to_there_is_no_variant(plan: Planner) -> None:
    def f(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
        return x * y

    assert plan(f).variants == ()


def function(*groups: str) -> Function:
    """A function whose inputs may share memory as told, a letter each."""
    return Function("f", Place(3, 1), (), (), (), True, tuple(map(tuple, groups)))


def test_the_sets_that_count_have_one_that_is_written_to() -> None:
    assert sharings(function("xyz"), ["x"]) == [(("x", "y", "z"),), (("x", "y"),), (("x", "z"),)]


def test_groups_that_share_apart_are_combined() -> None:
    found = sharings(function("ab", "cd"), ["a", "c"])
    assert found == [(("a", "b"), ("c", "d")), (("c", "d"),), (("a", "b"),)]


def test_too_many_ways_are_a_mistake_at_the_function() -> None:
    with pytest.raises(GraphError, match="more than 32 ways") as error:
        sharings(function("abcdefg"), ["a"])
    assert error.value.place.line == 3
