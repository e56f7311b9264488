"""Input metadata mutation: the wrapper runs it outside the graph."""

from __future__ import annotations

from torch import Tensor

from graphs.planning import Planner, blocks, metadata, outputs, steps, updates


def test_the_mutation_is_a_view_inside_and_the_operator_outside(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        return x.exp()

    program = plan(f).functional
    assert steps(program) == ["t = t_(x) as a view", "exp = exp(t)"]
    assert (metadata(program), updates(program)) == (["x.t_"], [])


def test_several_mutations_run_in_order(plan: Planner) -> None:
    def f(x: Tensor) -> None:
        x.unsqueeze_(0)
        x.transpose_(0, 1)

    assert metadata(plan(f).functional) == ["x.unsqueeze_", "x.transpose_"]


def test_data_is_copied_back_before_metadata_is_mutated(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        x.sin_()
        return x

    program = plan(f).functional
    assert steps(program) == ["t = t_(x) as a view", "t_2 = sin_(t)", "x_2 = x with t_2 at t_"]
    assert (updates(program), metadata(program), outputs(program)) == (["x.copy_(x_2)"], ["x.t_"], ["input x"])


def test_a_returned_input_with_mutated_metadata_has_no_block_in_the_backward(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        return x

    assert blocks(plan(f).backward) == []


def test_a_mutation_of_an_intermediate_is_not_visible_outside(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.exp()
        y.t_()
        return y * 2

    program = plan(f).functional
    assert (metadata(program), program.bumped) == ([], {})


def test_a_metadata_mutation_of_a_view_bumps_the_version_of_its_input(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        v = x[0:2]
        v.t_()
        return v.exp()

    program = plan(f).functional
    assert (metadata(program), program.bumped) == ([], {"x": ((),)})


def test_a_metadata_mutation_of_a_value_that_may_be_a_copy_bumps_the_version_only_of_a_view(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        v = x.reshape(-1)
        v.unsqueeze_(0)
        return v

    program = plan(f).functional
    assert "is_view = same_memory(v, x)" in steps(program)
    assert program.bumped == {"x": (("is_view",),)}
