"""Odd functions, which no release has, read as torchgen's in every family; what torchgen refuses has a reason.

They stand in odd_*.yaml: every kind of argument, default and result that a text depends on, next to the functions of a
small set, and next to those of torch.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from copies import copy_of
from never_wrong.oracle import Oracle
from project import Project

FOLDER = Path(__file__).parent
OF_PYTHON = "annotated_args,return_types,enum_tag,view_meta_bindings,bindings"
ODD_DERIVATIVES = """
- name: indices.odd(Tensor(a) self, Scalar x, float y, str z, Scalar[] many, bool[2] mask, SymInt[]? maybe,
    int[]? other, ScalarType? dtype, Generator? generator, MemoryFormat? memory_format) -> Tensor(a)
  output_differentiability: [False]

- name: odd_twice(Tensor self, Tensor other) -> Tensor
  self: grad
  other: grad
  result: self_t.odd_twice(other_p) + self_t.odd_twice(other_p)
"""
DEPRECATED = """
- name: odd_default(str mode, Tensor self) -> Tensor
  aten: odd_default(self, 1, mode)

- name: mul(Tensor other, *, Tensor self) -> Tensor
  aten: mul(self, other)
"""


@pytest.fixture(params=["small", pytest.param("torch", marks=pytest.mark.slow(10))])
def every_template(
    request: pytest.FixtureRequest, torch_kernels: Project, small_specs: Path, torch_specs: Path
) -> Project:
    """A set with all of torch's templates."""
    project = torch_kernels
    shutil.copytree(torch_specs / "ATen" / "templates", project.specs / "ATen" / "templates")
    deprecated = (torch_specs / "autograd" / "deprecated.yaml").read_text()
    if request.param == "small":
        for name in ("native_functions.yaml", "tags.yaml", "derivatives.yaml"):
            shutil.copyfile(small_specs / name, project.path(name))
        deprecated = ""
    (project.specs / "autograd" / "deprecated.yaml").write_text(deprecated + DEPRECATED)
    return project


def test_kernels_views_and_factories_equal_torchgens(every_template: Project, tmp_path: Path) -> None:
    project = every_template
    for name in ("odd_kernels.yaml", "odd_factories.yaml"):
        project.append("native_functions.yaml", (FOLDER / name).read_text())
    project.append("derivatives.yaml", ODD_DERIVATIVES)
    project.build()
    files = project.files()
    assert files == project.by_torchgen(tmp_path / "out")
    assert b"struct SelectOddViewFunc" in files["ViewFuncs.h"]


def test_what_python_sees_equals_torchgens(every_template: Project, tmp_path: Path) -> None:
    project, out = every_template, tmp_path / "out"
    project.append("native_functions.yaml", (FOLDER / "odd_python.yaml").read_text())
    made = project.build(families=OF_PYTHON).files()
    expected = project.by_torchgen(out, f"--aten={project.specs / 'ATen' / 'templates'}", f"--python={out}")
    assert len(made) == 16
    assert {name for name in made if made[name] != expected[name]} == set()
    assert b"odd_pairNamedTuple2" in made["python_return_types.cpp"]  # the one of `other`: overloads share one


# ---- what torchgen refuses

PLAIN = "  dispatch:\n    CompositeExplicitAutograd: odd\n"
COPY = "  tags: view_copy\n  dispatch:\n    CompositeExplicitAutogradNonFunctional: odd\n"
UNCHECKED = f"  device_check: NoCheck\n{PLAIN}"


def view(arguments: str, results: str = "Tensor(a)") -> tuple[str, str]:
    """A view with these arguments, and its copy."""
    func = f"values.odd({arguments}) -> {results}"
    copy = func.replace("values.", "values_copy.").replace("(a)", "").replace("(b!)", "")
    return f"- func: {func}\n{PLAIN}\n- func: {copy}\n{COPY}", ""


def function(func: str, derivatives: str = "", more: str = PLAIN) -> tuple[str, str]:
    """A function, and its derivatives."""
    return f"- func: {func}\n{more}", f"- name: {func}\n{derivatives}" if derivatives else ""


REFUSED: dict[str, tuple[str, str]] = {
    "takes 'float x', which cannot be saved": view("Tensor(a) self, float x"),
    "takes 'Tensor[] x', which cannot be saved": view("Tensor(a) self, Tensor[] x"),
    "takes 'Tensor(b!) x', which cannot be saved": view("Tensor(a) self, Tensor(b!) x"),
    "returns 2 values": view("Tensor(a) self", "(Tensor(a), int)"),
    "'self' is not the first argument": view("int x, Tensor(a) self"),
    "'size' is a list but its default '1' is not": function("odd_like(Tensor self, SymInt[] size=1) -> Tensor"),
    ": _foreach_odd: argument 'x' is a list but its default '1' is not": (
        f"- func: odd(Tensor self, Tensor x=1) -> Tensor\n{PLAIN}\n"
        f"- func: _foreach_odd(Tensor[] self, Tensor[] x=1) -> Tensor[]\n{UNCHECKED}",
        "- name: odd(Tensor self, Tensor x=1) -> Tensor\n  self: grad\n",
    ),
    "a view with derivatives needs some for Default": (
        view("Tensor(a) self")[0],
        "- name: values.odd(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    AutogradCUDA:\n      self: grad\n",
    ),
    "has derivatives, but no separate kernel": function("odd(Tensor self) -> Tensor", "  self: grad\n", ""),
    "would be ignored: it is not differentiable": function("zeros_like(Tensor self) -> Tensor", "  self: grad\n"),
    "'n' is of type int: it cannot have a gradient": function(
        "odd(Tensor self, int n) -> Tensor", "  n: grad\n  self: grad\n"
    ),
    "forward formulas compute 1 outputs, but 2 outputs are differentiable": function(
        "odd(Tensor self) -> (Tensor a, Tensor b)", "  self: grads[0] + grads[1]\n  a: self_t\n"
    ),
    "hint: drop the row": function("odd(Tensor self, int n) -> Tensor", "  self, n: grad\n"),
    "unknown word 'auto_elementwise'\n": function(
        "odd(Tensor self) -> Tensor", "  self: grad\n  result: auto_elementwise\n"
    ),
    "reads no tangent": function("odd(Tensor self) -> Tensor", "  self: grad\n  result: self_p\n"),
    "has no condition": function("odd(Tensor self, Tensor x, Tensor y) -> Tensor", "  self, x: f(wrap_opt_if(y))\n"),
    "has no derivatives": function("_foreach_odd_(Tensor(a!)[] self) -> ()", "", UNCHECKED),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_torchgen_refuses_is_refused_with_a_reason(
    kernels_built: Project, tmp_path: Path, torchgen: Oracle, message: str
) -> None:
    project = copy_of(kernels_built, tmp_path / "set")
    functions, derivatives = REFUSED[message]
    project.append("native_functions.yaml", functions)
    project.append("derivatives.yaml", derivatives)
    project.run().failed(message, status=1)
    assert torchgen.run(project.specs, tmp_path / "out")


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


@pytest.mark.parametrize("derivatives", [_OF_A_KEY, "[]\n"], ids=["of another key", "none"])
def test_kernels_that_have_no_place_are_not_left_out_in_silence(
    core_project: Project, tmp_path: Path, torchgen: Oracle, derivatives: str
) -> None:
    project = _few(core_project, derivatives)
    assert torchgen.run(project.specs, tmp_path / "oracle")
    run = project.run()
    assert run.status == 1
    assert "derivatives.yaml: error: " in run.stderr and "no derivatives are for Default" in run.stderr
    assert not [path for path in project.generated.rglob("*") if path.is_file()]
    assert project.run(families="nodes").status == 0
    _few(core_project, f"{derivatives.strip('[]')}\n- name: cos(Tensor self) -> Tensor\n  self: grad\n")
    assert project.run().status == 0


def test_a_type_that_cpp_has_not_is_not_blamed_on_derivatives(kernels: Project) -> None:
    kernels.append("native_functions.yaml", "- func: odd(Tensor self, GraphModule g) -> Tensor")
    run = kernels.run(families="trace_type")
    assert run.status == 1
    assert "type 'GraphModule' has no C++ equivalent, and generated code has to name it" in run.stderr
