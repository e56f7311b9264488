"""The kernels of ADInplaceOrView: which functions have them, how they record views, which edits change none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from copies import copy_of
from project import Project

from pipeline.families.family import DEFINITION
from pipeline.families.inplace_or_view.files import INPLACE_OR_VIEW
from pipeline.grammar.schema import SchemaParser
from pipeline.model.native import NativeFunction
from pipeline.model.nodes import Outputs
from pipeline.problems.problem import SpecError
from pipeline.releases import resolve
from pipeline.rules.native.heads import head_of

RELEASE = resolve("2.13")
TRANSPOSE = "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n"
FORMULAS = f"{TRANSPOSE}  self: grad.transpose(dim0, dim1)\n  result: auto_linear\n"
SELECT = "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)"


def function(func: str, **fields: Any) -> NativeFunction:
    return NativeFunction(SchemaParser(frozenset(RELEASE.base_types)).parse(func), **fields)


def kernel(func: str, *differentiable: str) -> str:
    plan = INPLACE_OR_VIEW.plan(Outputs(function(func), differentiable), RELEASE)
    return INPLACE_OR_VIEW.render(plan, RELEASE)[DEFINITION]


@pytest.mark.parametrize(
    ("func", "has"),
    [
        ("add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", True),
        ("add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", True),
        ("_foreach_add_(Tensor(a!)[] self) -> ()", False),
        ("add.Tensor(Tensor self, Tensor other) -> Tensor", False),
        (SELECT, True),
        ("chunk(Tensor(a -> *) self, int chunks) -> Tensor(a)[]", True),
        ("_unsafe_view(Tensor self, SymInt[] size) -> Tensor", False),
        ("detach(Tensor(a) self) -> Tensor(a)", False),
    ],
)
def test_functions_that_write_or_view_have_a_kernel(func: str, has: bool) -> None:
    assert INPLACE_OR_VIEW.selects(head_of(function(func), layered=False), RELEASE) is has


def test_every_result_of_an_in_place_function_gets_a_new_version() -> None:
    assert kernel("topk.values(Tensor self, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))") == (
        "::std::tuple<at::Tensor &,at::Tensor &> topk_out_values(c10::DispatchKeySet ks, const at::Tensor & self,"
        " at::Tensor & values, at::Tensor & indices) {\n"
        "  {\n"
        "    at::AutoDispatchBelowADInplaceOrView guard;\n"
        "    at::_ops::topk_values::redispatch(ks & c10::after_ADInplaceOrView_keyset, self, values, indices);\n"
        "  }\n"
        "  increment_version(values);\n"
        "  increment_version(indices);\n"
        "  return std::forward_as_tuple(values, indices);\n"
        "}\n"
    )


def test_a_view_records_how_to_replay_it() -> None:
    text = kernel(SELECT, "result")
    assert "  if (false ||\n" in text
    assert "func = std::make_unique<torch::autograd::generated::SelectIntViewFunc>(dim, index);" in text
    assert (
        "return at::functionalization::FunctionalInverses::select_int_inverse(self, input_view,"
        " at::functionalization::InverseReturnMode::AlwaysView, dim, index);"
    ) in text
    assert "CreationMeta::DEFAULT" in text


def test_a_view_that_changes_more_than_its_geometry_is_always_replayed() -> None:
    assert "  if (true ||\n" in kernel("view_as_real(Tensor(a) self) -> Tensor(a)", "result")


def test_each_view_of_a_list_is_recorded() -> None:
    text = kernel("split.Tensor(Tensor(a -> *) self, SymInt[] sizes, int dim=0) -> Tensor(a)[]", "result")
    assert "  for (auto view_idx : c10::irange(_tmp.size())) {\n" in text
    assert "SplitTensorViewFunc>(sizes, dim, view_idx);" in text
    assert "InverseReturnMode::AlwaysView, view_idx, sizes_vec, dim);" in text
    assert "auto sizes_vec = sizes.vec();" in text
    assert "CreationMeta::MULTI_OUTPUT_NODE" in text
    assert "  auto result = std::move(_tmp);\n" in text


def test_a_view_without_gradients_is_not_replayed() -> None:
    text = kernel("indices(Tensor(a) self) -> Tensor(a)")
    assert (
        "  auto result = as_view(self, _tmp, /* is_bw_differentiable */ false, /* is_fw_differentiable */ false);\n"
    ) in text
    assert "func" not in text


def test_an_optional_integer_is_captured_by_value() -> None:
    text = kernel("select.odd(Tensor(a) self, int? at) -> Tensor(a)", "result")
    assert "auto at_val = at.value_or(0);" in text
    assert "AlwaysView, at_val);" in text


@pytest.mark.parametrize("argument", ["float x", "Scalar x", "str x", "Tensor[] x", "int[]? x", "Tensor(b!) x"])
def test_arguments_that_cannot_be_captured_are_errors(argument: str) -> None:
    with pytest.raises(SpecError, match=r"view 'select\.odd' takes '.* x', which cannot be saved to replay the view"):
        kernel(f"select.odd(Tensor(a) self, {argument}) -> Tensor(a)", "result")


def test_a_view_with_two_differentiable_outputs_is_an_error() -> None:
    with pytest.raises(SpecError, match="has 2 outputs with gradients"):
        kernel("select.odd(Tensor(a) self) -> (Tensor(a), Tensor)", "result0", "result1")


def test_a_view_with_derivatives_only_for_another_key_is_an_error(kernels_built: Project, tmp_path: Path) -> None:
    project = copy_of(kernels_built, tmp_path)
    formulas = "  dispatch:\n    AutogradCUDA:\n      self: grad.transpose(dim0, dim1)\n      result: auto_linear\n"
    project.replace("derivatives.yaml", FORMULAS, TRANSPOSE + formulas)
    run = project.run()
    assert run.status == 1
    assert "transpose.int: a view with derivatives needs some for Default" in run.stderr


def test_a_changed_formula_changes_no_kernel(kernels_built: Project, tmp_path: Path) -> None:
    project = copy_of(kernels_built, tmp_path)
    project.set_formula("mv", "self", "grad.ger(vec.conj()).clone()")
    run = project.run()
    assert (run.status, run.shards) == (0, ["Functions.cpp"])
    assert [unit for unit in run.units if "::" in unit] == []


def test_a_view_that_loses_its_gradient_changes_its_kernel(kernels_built: Project, tmp_path: Path) -> None:
    project = copy_of(kernels_built, tmp_path)
    project.replace("derivatives.yaml", FORMULAS, f"{TRANSPOSE}  output_differentiability: [False]\n")
    run = project.run()
    assert run.status == 0
    assert [unit for unit in run.units if unit.startswith("ADInplace")] == ["ADInplaceOrView::transpose_int"]
    text = (project.generated / "ADInplaceOrViewTypeEverything.cpp").read_text()
    assert "TransposeIntViewFunc" not in text
    assert "TransposeIntViewFunc" in (project.generated / "ViewFuncs.h").read_text()
