"""What the forward holds for the backward: what formulas use, each once, and in which way."""

from __future__ import annotations

from torch import Tensor

from graphs.planning import Planner, held


def test_only_what_formulas_use_is_held(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return (x + y).exp().sum()

    assert held(plan(f).backward) == {"exp": "plain"}


def test_a_value_that_two_formulas_use_is_held_once(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.exp()
        return (y * y).sum() + y.sin().sum()

    assert held(plan(f).backward) == {"y": "plain"}


def test_inputs_and_outputs_are_held_so_that_a_write_to_them_is_noticed(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x.sin().exp()

    assert held(plan(f).backward) == {"exp": "output", "x": "input"}


def test_an_input_that_the_graph_writes_to_is_held_as_a_copy(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.sin()
        x.mul_(2)
        return y

    assert held(plan(f).backward)["x"] == "copy"


def test_a_view_of_an_input_is_made_again(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x[0].sin()

    assert held(plan(f).backward) == {"x": "input", "select": "remade"}


def test_a_number_is_made_again(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x * 2

    assert held(plan(f).backward)["number"] == "remade"


def test_what_only_some_gradients_need_is_held_for_these(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return x * y

    assert {each.name: each.needs for each in plan(f).backward.tensors} == {"y": (0,), "x": (1,)}
