"""What graphs do not do and do not keep, which no value shows: needless steps, variants, gradients, saved tensors."""

from __future__ import annotations

from typing import Annotated

import pytest
import torch
from torch import Tensor

from gradmill.extensions.graphs.model import Function, GraphError, Place, Ref
from gradmill.extensions.graphs.passes.functionalize.bases import sharings
from gradmill.extensions.graphs.passes.functionalize.program import Scatter
from gradmill.extensions.graphs.passes.keep.saved import Uses
from gradmill.extensions.graphs.passes.needs import Rows
from graphs.planning import Planner, blocks, saved


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """Plans a function that a test defines, with the operators of the core set."""
    return Planner(tmp_path_factory.mktemp("plans"))


def test_a_base_that_is_not_used_after_a_write_to_its_view_is_not_updated(plan: Planner) -> None:
    def f(t: Tensor) -> Tensor:
        b = t.clone()
        x = b[0]
        x.sin_()
        return x.exp()

    assert not [step for step in plan(f).functional.steps if isinstance(step, Scatter)]


def test_a_call_that_no_output_depends_on_has_no_gradient(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.sin()
        return x.exp()

    assert blocks(plan(f).backward) == ["own exp → x"]


def test_a_returned_input_with_mutated_metadata_has_no_gradient_of_its_own(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        x.t_()
        return x

    assert blocks(plan(f).backward) == []


def test_needs_are_those_of_the_inputs_that_a_value_depends_on(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        return x * y, z.exp()

    assert {each.name: each.needs for each in plan(f).returned} == {"mul": (0, 1), "exp": (2,)}


def test_whether_what_may_be_written_by_another_name_needs_a_gradient_is_decided_at_run_time(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        v = x.contiguous()
        v -= y
        x.add_(1.5)
        return x

    planned = plan(f)
    (gate,) = planned.needs.gates
    assert [each.needs for each in planned.returned if each.needs] == [(gate.place,)]
    assert gate.chosen is not None and (gate.chosen.then, gate.chosen.otherwise) == ((0, 1), (0,))


# ---- variants for inputs that share memory


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


# ---- saved tensors


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


def test_metadata_that_several_gradients_need_is_saved_for_all_of_them() -> None:
    uses = Uses(Rows(2))
    for needs in (0b10, 0b01, 0b10):
        assert uses.mark("like", Ref("x"), needs) == "like_x"
    assert [mark.needs for mark in uses.marks] == [(0, 1)]
