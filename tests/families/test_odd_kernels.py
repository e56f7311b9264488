"""Kernels and view classes of odd functions as torchgen makes them: of torch's specs with some added, and of core's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from copies import copy_of
from project import ROOT, Project

SLOW = pytest.mark.slow

ODD = ROOT / "tests" / "families" / "odd_kernels.yaml"
ODD_DERIVATIVES = """
- name: indices.odd(Tensor(a) self, Scalar x, float y, str z, Scalar[] many, bool[2] mask, SymInt[]? maybe,
    int[]? other, ScalarType? dtype, Generator? generator, MemoryFormat? memory_format) -> Tensor(a)
  output_differentiability: [False]
"""
CHOICE = "trace_type,inplace_or_view,view_funcs"


@pytest.mark.slow
def test_odd_functions_next_to_torchs_read_as_torchgens(torch_kernels: Project, tmp_path: Path) -> None:
    torch_project = torch_kernels
    torch_project.append("native_functions.yaml", ODD.read_text())
    torch_project.append("derivatives.yaml", ODD_DERIVATIVES)
    torch_project.build()
    files = torch_project.files()
    assert files == torch_project.by_torchgen(tmp_path / "out")
    assert b"struct SelectOddViewFunc" in files["ViewFuncs.h"]


KERNEL = "  dispatch:\n    CompositeExplicitAutogradNonFunctional: odd\n"
REFUSED = {
    "select.odd(Tensor(a) self, float x) -> Tensor(a)": "takes 'float x', which cannot be saved",
    "values.odd(Tensor(a) self, Tensor[] x) -> Tensor(a)": "takes 'Tensor[] x', which cannot be saved",
    "values.odd(Tensor(a) self) -> (Tensor(a), int)": "returns 2 values",
}


@pytest.mark.parametrize("func", REFUSED)
def test_what_torchgen_refuses_is_refused_with_a_reason(kernels_built: Project, tmp_path: Path, func: str) -> None:
    project = copy_of(kernels_built, tmp_path)
    copy = func.replace(".odd", "_copy.odd").replace("(a)", "")
    project.append("native_functions.yaml", f"- func: {func}\n{KERNEL.replace('NonFunctional', '')}")
    project.append("native_functions.yaml", f"- func: {copy}\n  tags: view_copy\n{KERNEL}")
    run = project.run(families=CHOICE)
    assert run.status == 1
    assert REFUSED[func] in run.stderr
    with pytest.raises(subprocess.CalledProcessError):
        project.by_torchgen(tmp_path / "out")


def _few(project: Project, derivatives: str) -> Project:
    """A set of three operators."""
    project.path("native_functions.yaml").write_text(
        "- func: mv(Tensor self, Tensor vec) -> Tensor\n  dispatch:\n    CPU: mv\n\n"
        "- func: cos(Tensor self) -> Tensor\n  dispatch:\n    CPU: cos\n"
    )
    project.path("derivatives.yaml").write_text(derivatives)
    return project


def test_an_empty_condition_of_differentiability_is_printed_as_torchgen_prints_it(
    core_project: Project, tmp_path: Path
) -> None:
    condition = "- name: cos(Tensor self) -> Tensor\n  output_differentiability: ['']\n  self: grad\n  result: self_t\n"
    project = _few(core_project, condition).build()
    assert project.files() == project.by_torchgen(tmp_path / "oracle")


_OF_A_KEY = "- name: mv(Tensor self, Tensor vec) -> Tensor\n  dispatch:\n    AutogradCUDA:\n      self: grad\n"


@pytest.mark.parametrize("derivatives", [_OF_A_KEY, pytest.param("[]\n", marks=SLOW)], ids=["of another key", "none"])
def test_kernels_that_have_no_place_are_not_left_out_in_silence(
    core_project: Project, tmp_path: Path, derivatives: str
) -> None:
    project = _few(core_project, derivatives)
    with pytest.raises(subprocess.CalledProcessError):
        project.by_torchgen(tmp_path / "oracle")
    run = project.run()
    assert run.status == 1
    assert "derivatives.yaml: error: " in run.stderr and "no derivatives are for Default" in run.stderr
    assert not [path for path in project.generated.rglob("*") if path.is_file()]
    assert project.run(families="nodes").status == 0
    _few(core_project, f"{derivatives.strip('[]')}\n- name: cos(Tensor self) -> Tensor\n  self: grad\n")
    assert project.run().status == 0


def test_a_type_that_cpp_has_not_is_not_blamed_on_derivatives(kernels_built: Project, tmp_path: Path) -> None:
    project = copy_of(kernels_built, tmp_path)
    project.append("native_functions.yaml", "- func: odd(Tensor self, GraphModule g) -> Tensor")
    run = project.run(families="trace_type")
    assert run.status == 1
    assert "type 'GraphModule' has no C++ equivalent, and generated code has to name it" in run.stderr
