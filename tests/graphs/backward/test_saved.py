"""What the forward saves for the backward: only what formulas use, each value once, and how."""

from __future__ import annotations

import torch
from torch import Tensor

from graphs.planning import Planner, saved
from pipeline.graphs.backward.saved import Saver
from pipeline.graphs.model import Ref


def test_only_what_formulas_use_is_saved(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return (x + y).exp().sum()

    assert saved(plan(f).backward) == {"exp": "plain"}


def test_a_value_that_two_formulas_use_is_saved_once(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.exp()
        return (y * y).sum() + y.sin().sum()

    assert saved(plan(f).backward) == {"y": "plain"}


def test_inputs_and_outputs_are_saved_so_that_autograd_detects_a_write_to_them(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x.sin().exp()

    assert saved(plan(f).backward) == {"exp": "output", "x": "input"}


def test_an_input_that_the_graph_writes_to_is_saved_as_a_copy(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.sin()
        x.mul_(2)
        return y

    assert saved(plan(f).backward)["x"] == "copy"


def test_a_view_of_an_input_is_recomputed(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x[0].sin()

    assert saved(plan(f).backward) == {"x": "input", "select": "remade"}


def test_a_constant_is_recomputed(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x * torch.full([2], 3.0)

    assert saved(plan(f).backward)["full"] == "remade"


def test_a_value_that_only_some_gradients_need_is_saved_for_these(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return x * y

    assert {each.name: each.needs for each in plan(f).backward.tensors} == {"y": (0,), "x": (1,)}


def test_metadata_that_several_gradients_need_is_saved_for_all_of_them(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return x

    saver = Saver(plan(f).functional, {}, {"x": "Tensor", "y": "Tensor"}, (), ())
    for needs in ({1}, {0}, {1}):
        assert saver.mark("like", Ref("x"), frozenset(needs)) == "like_x"
    assert [mark.needs for mark in saver.marks.values()] == [(0, 1)]
