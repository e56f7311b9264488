"""Input metadata mutation: what changes only the looks of an input is done outside of the graph."""

from __future__ import annotations

from torch import Tensor

from graphs.planning import Planner, blocks, metadata, outputs, steps, updates


def test_new_looks_are_a_view_inside_and_the_operator_outside(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        return x.exp()

    found = plan(f).functional
    assert steps(found) == ["t = t_(x) as a view", "exp = exp(t)"]
    assert (metadata(found), updates(found)) == (["x.t_"], [])


def test_several_are_done_in_order(plan: Planner) -> None:
    def f(x: Tensor) -> None:
        x.unsqueeze_(0)
        x.transpose_(0, 1)

    assert metadata(plan(f).functional) == ["x.unsqueeze_", "x.transpose_"]


def test_data_is_copied_back_before_the_looks_change(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        x.sin_()
        return x

    found = plan(f).functional
    assert steps(found) == ["t = t_(x) as a view", "t_2 = sin_(t)", "x_2 = x with t_2 at t_"]
    assert (updates(found), metadata(found), outputs(found)) == (["x.copy_(x_2)"], ["x.t_"], ["input x"])


def test_what_is_returned_with_new_looks_has_no_gradient_of_its_own(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        return x

    assert blocks(plan(f).backward) == []


def test_of_an_intermediate_nobody_outside_sees_it(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.exp()
        y.t_()
        return y * 2

    found = plan(f).functional
    assert (metadata(found), found.bumped) == ([], ())


def test_a_view_of_an_input_that_changes_its_looks_counts_as_a_write_to_it(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        v = x[0:2]
        v.t_()
        return v.exp()

    found = plan(f).functional
    assert (metadata(found), found.bumped) == ([], ("x",))
