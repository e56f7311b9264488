"""The kernels of ADInplaceOrView after edits: which change none, and which error a view has."""

from __future__ import annotations

from pathlib import Path

from copies import copy_of
from project import Project

TRANSPOSE = "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n"
FORMULAS = f"{TRANSPOSE}  self: grad.transpose(dim0, dim1)\n  result: auto_linear\n"


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
