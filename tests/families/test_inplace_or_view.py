"""The kernels of ADInplaceOrView after edits: which change none, and which error a view has."""

from __future__ import annotations

from project import Project

TRANSPOSE = "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n"
FORMULAS = f"{TRANSPOSE}  self: grad.transpose(dim0, dim1)\n  result: auto_linear\n"


def test_a_view_with_derivatives_only_for_another_key_is_an_error(kernels: Project) -> None:
    formulas = "  dispatch:\n    AutogradCUDA:\n      self: grad.transpose(dim0, dim1)\n      result: auto_linear\n"
    kernels.replace("derivatives.yaml", FORMULAS, TRANSPOSE + formulas)
    kernels.run().failed("transpose.int: a view with derivatives needs some for Default", status=1)


def test_a_changed_formula_changes_no_kernel(kernels: Project) -> None:
    kernels.set_formula("mv", "self", "grad.ger(vec.conj()).clone()")
    run = kernels.run()
    assert (run.status, run.shards) == (0, ["Functions.cpp"])
    assert [unit for unit in run.units if "::" in unit] == []


def test_a_view_that_loses_its_gradient_changes_its_kernel(kernels: Project) -> None:
    kernels.replace("derivatives.yaml", FORMULAS, f"{TRANSPOSE}  output_differentiability: [False]\n")
    run = kernels.run().ok()
    assert [unit for unit in run.units if unit.startswith("ADInplace")] == ["ADInplaceOrView::transpose_int"]
    text = (kernels.generated / "ADInplaceOrViewTypeEverything.cpp").read_text()
    assert "TransposeIntViewFunc" not in text
    assert "TransposeIntViewFunc" in (kernels.generated / "ViewFuncs.h").read_text()
