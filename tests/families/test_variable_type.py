"""The kernels of VariableType after edits: what is rebuilt, which files go, where errors are reported."""

from __future__ import annotations

from pathlib import Path

from project import Project, files_in

from gradmill.families.variable_type import VARIABLE_TYPE


def of_variable_type(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files_in(folder).items() if VARIABLE_TYPE.owns(name)}


def kernels_made(project: Project) -> list[str]:
    """The functions with rebuilt kernels of VariableType."""
    run = project.run().ok()
    assert project.files() == project.clean_build()
    return [unit.removeprefix("VariableType::") for unit in run.units if unit.startswith("VariableType::")]


def test_a_new_key_goes_into_every_file(kernels: Project) -> None:
    kernels.build()
    before = of_variable_type(kernels.generated)
    kernels.replace("derivatives.yaml", "- name: mv(", f"{KEYED}\n- name: mv(")
    kernels.append("native_functions.yaml", KEYED_NATIVE)
    assert kernels_made(kernels) == ["keyed"]
    after = of_variable_type(kernels.generated)
    assert {name for name in after if after[name] == before[name]} == {"VariableType.h"}
    assert b"TORCH_LIBRARY_IMPL(aten, AutogradXPU, m) {" in after["VariableType_0.cpp"]


EXP = "- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj()\n"
KEYED = """- name: keyed(Tensor self) -> Tensor
  dispatch:
    Default:
      self: grad
    AutogradXPU:
      self: grad * 2
"""
KEYED_NATIVE = """
- func: keyed(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: keyed
"""


def test_a_kernel_without_derivatives_due_to_an_error_in_them_is_no_second_error(kernels: Project) -> None:
    kernels.replace("derivatives.yaml", EXP, EXP.replace("self:", "slef:"))
    assert errors_of(kernels) == ["slef: 'slef' is neither an input nor an output of the op"]


def test_errors_in_kernels_are_reported_with_others(kernels: Project) -> None:
    kernels.replace("derivatives.yaml", EXP, EXP.replace("self:", "slef:"))
    kernels.set_formula("mv", "result", "self_p.mv(vec_p)")
    problems = errors_of(kernels)
    assert len(problems) == 2
    assert "the forward formula of result reads no tangent" in problems[1]


def test_a_misspelt_word_of_forward_mode_is_one_error(kernels: Project) -> None:
    """Although the in-place and the out variant have the formula, too."""
    kernels.set_formula("exp", "result", "auto_elementwise")
    assert errors_of(kernels) == ["result: unknown word 'auto_elementwise'"]


def errors_of(project: Project) -> list[str]:
    """The problems that a run reports, without places."""
    run = project.run()
    assert run.status == 1
    return [line.split(": ", 3)[3] for line in run.stderr.splitlines() if ": error: " in line]
