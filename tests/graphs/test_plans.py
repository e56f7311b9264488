"""What graphs do not do and do not keep, which no value shows: needless steps, variants, gradients, saved tensors."""

from __future__ import annotations

import pytest

from gradmill.extensions.graphs.model import Function, GraphError, Place, Ref
from gradmill.extensions.graphs.passes.functionalize.bases import sharings
from gradmill.extensions.graphs.passes.functionalize.program import Scatter
from gradmill.extensions.graphs.passes.keep.saved import Uses
from gradmill.extensions.graphs.passes.needs import Rows
from gradmill.extensions.graphs.plan import GraphPlan
from graphs.library import SOURCES
from graphs.planning import blocks, saved
from graphs.reading import Reading


@pytest.fixture(scope="module")
def plans() -> dict[str, GraphPlan]:
    """The plans of the functions in `sources/plans.py`."""
    reading = Reading(SOURCES / "plans.py")
    return {name: reading.plan(name) for name in reading.functions}


def test_a_base_that_is_not_used_after_a_write_to_its_view_is_not_updated(plans: dict[str, GraphPlan]) -> None:
    assert not [step for step in plans["base_not_used_again"].functional.steps if isinstance(step, Scatter)]


@pytest.mark.parametrize(
    ("name", "found"), [("call_without_use", ["own exp → x"]), ("returned_with_other_metadata", [])]
)
def test_what_no_output_depends_on_has_no_gradient(name: str, found: list[str], plans: dict[str, GraphPlan]) -> None:
    assert blocks(plans[name].backward) == found


def test_needs_are_those_of_the_inputs_that_a_value_depends_on(plans: dict[str, GraphPlan]) -> None:
    assert {each.name: each.needs for each in plans["of_some_inputs"].returned} == {"mul": (0, 1), "exp": (2,)}


def test_whether_what_may_be_written_by_another_name_needs_a_gradient_is_decided_at_run_time(
    plans: dict[str, GraphPlan],
) -> None:
    plan = plans["written_by_another_name"]
    (gate,) = plan.needs.gates
    assert [each.needs for each in plan.returned if each.needs] == [(gate.place,)]
    assert gate.chosen is not None and (gate.chosen.then, gate.chosen.otherwise) == ((0, 1), (0,))


# ---- variants for inputs that share memory


def test_without_a_write_there_is_no_variant(plans: dict[str, GraphPlan]) -> None:
    assert plans["sharing_without_a_write"].variants == ()


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


SAVED = {
    "only_what_formulas_use": {"exp": "plain"},
    "used_by_two_formulas": {"y": "plain"},
    "input_and_output": {"exp": "output", "x": "input"},
    "input_that_is_written": {"x": "copy"},
    "view_of_an_input": {"x": "input", "select": "remade"},
    "constant": {"x": "input", "full": "remade"},
    "for_some_gradients": {"x": "input", "y": "input"},
}


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_and_how(name: str, plans: dict[str, GraphPlan]) -> None:
    assert saved(plans[name].backward) == SAVED[name]


def test_a_value_that_only_some_gradients_need_is_saved_for_these(plans: dict[str, GraphPlan]) -> None:
    tensors = plans["for_some_gradients"].backward.tensors
    assert {each.name: each.needs for each in tensors} == {"y": (0,), "x": (1,)}


def test_metadata_that_several_gradients_need_is_saved_for_all_of_them() -> None:
    uses = Uses(Rows(2))
    for needs in (0b10, 0b01, 0b10):
        assert uses.keep_metadata("like", Ref("x"), needs) == "like_x"
    assert [needs for _, _, needs in uses.metadata.values()] == [0b11]
