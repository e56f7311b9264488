"""Writes that read the same memory: which get eager's check, and that eager has it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from graphs.planning import Planner
from pipeline.graphs.functional.program import Overlap, Scatter
from pipeline.graphs.plan import GraphPlan


def checks(plan: GraphPlan) -> list[tuple[int, int, int, bool]]:
    """The checks of a graph: the lengths of their chains, and whether any overlap is an error."""
    steps = (step for step in plan.functional.steps if isinstance(step, Overlap))
    return [(len(step.common), len(step.written), len(step.read), step.every) for step in steps]


def test_a_write_that_reads_another_view_of_its_memory_is_checked(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x[1:].mul_(x[:-1])
        return x

    assert checks(plan(f)) == [(0, 1, 1, False)]


def test_both_views_are_made_from_the_tensor_that_they_have_in_common(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        a = x.reshape(-1)
        a[1:].mul_(a[:-1])
        return x

    assert checks(plan(f)) == [(1, 1, 1, False)]


def test_items_of_a_list_of_views_are_made_from_what_the_list_is_of(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        a, b = x.t().chunk(2)
        a.mul_(b)
        return x

    assert checks(plan(f)) == [(1, 2, 2, False)]


def test_other_memory_and_the_tensor_itself_need_no_check(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        x.mul_(x)
        x[1:].mul_(y[:-1])
        x[1:].mul_(2)
        return x

    assert checks(plan(f)) == []


def test_elements_that_are_one_in_memory_may_get_a_number_and_no_tensor(plan: Planner) -> None:
    def number(x: Tensor) -> Tensor:
        x[0].expand(3, -1).fill_(2)
        return x

    def tensor(x: Tensor, y: Tensor) -> Tensor:
        x[0].expand(3, -1).fill_(y)
        return x

    same = [[step.same for step in plan(f).functional.steps if isinstance(step, Scatter)] for f in (number, tensor)]
    assert same == [[True], [False]]
    number(torch.zeros(2, 2))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        tensor(torch.zeros(2, 2), torch.ones(()))
