"""Input data mutation: the new value is an output of the forward and is copied back into the input."""

from __future__ import annotations

import torch
from torch import Tensor

from graphs.planning import Planner, outputs, steps, updates


def test_a_write_creates_a_new_value_that_is_copied_back(plan: Planner) -> None:
    def f(x: Tensor, w: Tensor) -> Tensor:
        x.mul_(w)
        return x.sum()

    graph = plan(f)
    assert steps(graph.functional) == ["x_2 = mul_.Tensor(x, w)", "sum = sum(x_2)"]
    assert updates(graph.functional) == ["x.copy_(x_2)"]
    assert [each.name for each in graph.returned] == ["x_2", "sum"]


def test_a_value_computed_before_a_write_uses_the_old_value(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.exp()
        x.sin_()
        return x * y

    assert steps(plan(f).functional) == ["y = exp(x)", "x_2 = sin_(x)", "mul = mul.Tensor(x_2, y)"]


def test_after_several_writes_the_last_value_is_copied_back(plan: Planner) -> None:
    def f(x: Tensor) -> None:
        x.sin_()
        x.cos_()

    program = plan(f).functional
    assert steps(program) == ["x_2 = sin_(x)", "x_3 = cos_(x_2)"]
    assert updates(program) == ["x.copy_(x_3)"]


def test_a_write_to_a_view_is_scattered_into_the_base(plan: Planner) -> None:
    def f(t: Tensor, y: Tensor) -> Tensor:
        b = t.clone()
        x = b[0]
        x.mul_(y)
        return b

    program = plan(f).functional
    assert steps(program)[1:] == [
        "x = select.int(b) as a view",
        "x_2 = mul_.Tensor(x, y)",
        "b_2 = b with x_2 at select.int",
    ]
    assert (updates(program), outputs(program)) == ([], ["b_2"])


def test_other_views_are_recomputed_from_the_new_base(plan: Planner) -> None:
    def f(t: Tensor) -> Tensor:
        b = t.clone()
        other = b[1]
        b[0].sin_()
        return other.exp()

    assert steps(plan(f).functional)[-2:] == ["other_2 = select.int(b_2) as a view", "exp = exp(other_2)"]


def test_a_base_that_is_not_used_after_a_write_to_its_view_is_not_updated(plan: Planner) -> None:
    def f(t: Tensor) -> Tensor:
        b = t.clone()
        x = b[0]
        x.sin_()
        return x.exp()

    assert not [step for step in steps(plan(f).functional) if " with " in step]


def test_a_write_under_no_grad_keeps_the_history_of_the_old_value(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        with torch.no_grad():
            x.mul_(2)
        return x * 3

    graph = plan(f)
    assert updates(graph.functional) == ["x.copy_(x_2) without grad"]
    written = next(each for each in graph.returned if each.name == "x_2")
    assert (written.slot, written.needs) == ("x", (0,))


def test_a_write_to_a_leaf_is_checked_before_the_forward(plan: Planner) -> None:
    def f(x: Tensor, w: Tensor) -> None:
        x[0].add_(w[0])

    ((check, needs),) = plan(f).checks
    assert (check.input, [link.identity.partition("(")[0] for link in check.chain]) == ("x", ["select.int"])
    assert needs == (0, 1)


def test_a_write_to_a_view_that_may_be_a_copy_depends_on_its_flag(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.reshape(-1)
        y.sin_()
        return x

    program = plan(f).functional
    assert steps(program) == [
        "y = reshape(x) as a view",
        "is_view = same_memory(y, x)",
        "y_2 = sin_(y)",
        "x_2 = x with y_2 at reshape",
    ]
    assert program.updates[0].conditions == (("is_view",),)


def test_an_out_argument_is_written_to(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return torch.mul(x, x, out=y)

    program = plan(f).functional
    refused, written = steps(program)
    assert refused.startswith("refuse x, x, y: mul(): functions with out=... arguments don't support")
    assert written == "y_2 = mul.out(x, x, y)"
    assert (updates(program), outputs(program)) == (["y.copy_(y_2) without grad"], ["input y"])
