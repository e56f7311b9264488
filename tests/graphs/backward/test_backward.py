"""The backward: the calls in reverse that depend on an input, and how their gradients are computed."""

from __future__ import annotations

import torch
from torch import Tensor

from graphs.planning import Planner, blocks


def test_blocks_are_in_reverse_order_of_calls(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return (x.exp() * y).sum()

    assert blocks(plan(f).backward) == ["own sum → mul", "own mul.Tensor → exp, y", "own exp → x"]


def test_a_call_that_no_output_depends_on_has_no_block(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.sin()
        return x.exp()

    assert blocks(plan(f).backward) == ["own exp → x"]


def test_a_call_under_no_grad_or_detached_has_no_block(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        with torch.no_grad():
            scale = x.sum()
        return x.exp() * scale * x.sin().detach()

    assert blocks(plan(f).backward) == ["own mul.Tensor → mul", "own mul.Tensor → exp", "own exp → x"]


def test_the_gradient_of_a_written_base_is_split(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        b = x * 1
        b[0].mul_(y)
        return b

    first, second, *_ = blocks(plan(f).backward)
    assert (first, second) == ("scatter b_2 → select_2, b", "own mul_.Tensor → select, y")


def test_needs_are_those_of_the_inputs_that_a_value_depends_on(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        return x * y, z.exp()

    assert {each.name: each.needs for each in plan(f).returned} == {"mul": (0, 1), "exp": (2,)}


def test_matmul_a_composite_operator_has_its_own_gradients(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return torch.matmul(x, y)

    assert blocks(plan(f).backward) == ["composite matmul → x, y"]


def test_an_operator_without_a_derivative_is_an_error_in_the_backward(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return torch.histogram(x, 4)[0]

    assert blocks(plan(f).backward) == ["missing histogram.bin_ct → x"]
