"""Outputs that alias: the wrapper recomputes each from the input or the value that it is a view of."""

from __future__ import annotations

from torch import Tensor

from graphs.planning import Planner, outputs
from pipeline.graphs.functional.program import Shown


def test_a_view_of_an_input_is_made_from_that_input(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        return x[0].unsqueeze(1)

    graph = plan(f)
    assert outputs(graph.functional) == ["select.int.unsqueeze of input x"]
    assert (graph.returned, graph.backward.blocks) == ((), ())


def test_a_view_of_a_value_makes_that_value_an_output_of_the_forward(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x.exp()
        return y.t()

    graph = plan(f)
    assert outputs(graph.functional) == ["t of y"]
    assert [each.name for each in graph.returned] == ["y"]


def test_views_of_one_value_share_it(plan: Planner) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = x.exp()
        return y.t(), y[0], y

    graph = plan(f)
    assert outputs(graph.functional) == ["t of y", "select.int of y", "y"]
    assert [each.name for each in graph.returned] == ["y"]


def test_a_returned_input_is_that_input(plan: Planner) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x.exp()

    assert outputs(plan(f).functional) == ["input x", "exp"]


def test_a_value_returned_twice_is_one_tensor_and_two_equal_views_are_two(plan: Planner) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a = x[0]
        return a, a, x[0]

    one, two, three = plan(f).functional.outputs
    assert one == two and one != three


def test_items_of_several_views_are_keyed_by_their_index(plan: Planner) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = x.split(2)
        return b, a

    assert outputs(plan(f).functional) == ["split.Tensor.[1] of input x", "split.Tensor.[0] of input x"]


def test_a_view_of_a_mutated_input_is_made_from_the_input(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        v = x[0]
        x.sin_()
        return v

    assert outputs(plan(f).functional) == ["select.int of input x"]


def test_a_view_of_a_tensor_that_may_be_a_copy_is_made_from_that_copy(plan: Planner) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.reshape(-1)
        z = y[1:]
        z.mul_(2)
        return y, z

    graph = plan(f)
    whole, part = graph.functional.outputs
    assert isinstance(whole, Shown) and isinstance(part, Shown)
    assert whole.copies == part.copies
    assert [(each.step, len(part.chain)) for each in part.copies] == [(1, 2)]
    assert [each.name for each in graph.returned] == ["x_2", "copy"]
