"""Kernels and view classes of odd functions as torchgen makes them: of torch's specs with some added, and of core's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from copies import copy_of
from project import ROOT, Project

ODD = ROOT / "tests" / "odd_kernels.yaml"
ODD_DERIVATIVES = """
- name: indices.odd(Tensor(a) self, Scalar x, float y, str z, Scalar[] many, bool[2] mask, SymInt[]? maybe,
    int[]? other, ScalarType? dtype, Generator? generator, MemoryFormat? memory_format) -> Tensor(a)
  output_differentiability: [False]
"""
CHOICE = "trace_type,inplace_or_view,view_funcs"


def test_odd_functions_beside_torchs_read_as_torchgens(torch_kernels: Project, tmp_path: Path) -> None:
    torch_project = torch_kernels
    torch_project.append("native_functions.yaml", ODD.read_text())
    torch_project.append("derivatives.yaml", ODD_DERIVATIVES)
    torch_project.build()
    files = torch_project.files()
    assert files == torch_project.by_torchgen(tmp_path / "out")
    assert b"struct SelectOddViewFunc" in files["ViewFuncs.h"]


KERNEL = "  dispatch:\n    CompositeExplicitAutogradNonFunctional: odd\n"
REFUSED = {
    "select.odd(Tensor(a) self, float x) -> Tensor(a)": "takes 'float x', which cannot be held",
    "values.odd(Tensor(a) self, Tensor[] x) -> Tensor(a)": "takes 'Tensor[] x', which cannot be held",
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
