"""Modules that declare kernels compiled ahead of time: read as data, with errors at their lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project

from gradmill.releases import resolve

MODULE = """\
ATEN_OP = "topk"
DISPATCH_KEY = "CUDA"
KERNEL_MODULE = "kernels.py"


def kernel_precompile_grid():
    return [{"sizes": n} for n in (64, 128)]


def covered_axes(self, *arguments):
    return {}


def cpp_dispatch(spec):
    return ""


def cpp_launch(spec, launch_fn):
    return ""


"""
HOLES = {"h": "native_aot_stub_declarations", "cpp": "native_aot_stub_definitions"}


@pytest.fixture
def modules(aten: Project) -> Path:
    """The folder with the modules of a set that has templates of stubs, and none of its functions is `topk`."""
    (aten.specs / "RELEASE").write_text("2.15.0\n")
    for ending, hole in HOLES.items():
        path = aten.specs / "ATen" / "templates" / f"NativeAotStubs.{ending}"
        path.write_text(f"// ${{generated_comment}}\n${{{hole}}}\n")
    aten.append(
        "native_functions.yaml",
        "- func: ahead(Tensor self, int[2] n, Scalar? x) -> Tensor\n  structured_delegate: ahead.out\n\n"
        "- func: ahead.out(Tensor self, int[2] n, Scalar? x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU, CUDA: ahead_out\n",
    )
    expected = enumerate(sorted(resolve("2.15").cpu_library_kernels))  # by torchgen
    aten.append(
        "native_functions.yaml",
        "".join(f"\n- func: other{i}(Tensor self) -> Tensor\n  dispatch: {{CUDA: {name}}}\n" for i, name in expected),
    )
    folder = aten.specs / "ops"
    (folder / "one").mkdir(parents=True)
    return folder


def test_stubs_have_the_parameters_of_the_implementation(aten: Project, modules: Path) -> None:
    path = modules / "one" / "aot.py"
    path.write_text(MODULE.replace("topk", "ahead"))
    aten.build(families="native_aot_stubs", native_aot=modules)
    parameters = "const at::Tensor & self, at::IntArrayRef n, at::OptionalScalarRef x, const at::Tensor & out"
    header = (aten.generated / "ATen" / "NativeAotStubs.h").read_text()
    assert f"using ahead_aot_fn = bool (*)({parameters});\nDECLARE_DISPATCH(ahead_aot_fn, ahead_aot_stub)\n" in header
    aten.build(families="native_aot_stubs")
    assert "ahead" not in (aten.generated / "ATen" / "NativeAotStubs.h").read_text()
    aten.build(families="native_aot_stubs", native_aot=modules)
    assert "ahead" in (aten.generated / "ATen" / "NativeAotStubs.h").read_text()
    path.unlink()
    aten.build(families="native_aot_stubs", native_aot=modules)
    assert "ahead" not in (aten.generated / "ATen" / "NativeAotStubs.h").read_text()


KEY, OP = 'DISPATCH_KEY = "CUDA"', 'ATEN_OP = "topk"'
FAULTS = {
    (OP, 'ATEN_OP = "to" + "pk"'): ":1:11: error: this is not a text, written as a literal",
    (OP, "from constants import *"): ":1:1: error: an import of all names may replace a constant",
    (OP, ""): ":1:1: error: the module has no constant ATEN_OP",
    (KEY, f"{KEY}\nif True:\n    {OP}"): ":4:5: error: ATEN_OP is assigned again",
    (KEY, 'DISPATCH_KEY = "CUDAA"'): ":1:1: error: there is no dispatch key 'CUDAA'",
    (KEY, f"{KEY}\nUNCONDITIONAL = 1"): ":3:17: error: this is not True or False, written as a literal",
    (KEY, f"{KEY}\ndef declarations(): return []"): ":3:1: error: the declarations are computed",
    ("(spec)", "()"): ":14:1: error: cpp_dispatch needs 1 parameters",
    ("def cpp_launch", "def launch"): ":1:1: error: the module has no function cpp_launch",
    ("return {}", "return {"): ":11:12: error: not Python: '{' was never closed",
    (OP, OP): ":1:1: error: 'topk' is not a structured operator",
    (KEY, f"{KEY}\nARCHS = ()"): ":3:9: error: ARCHS names none",
    (KEY, f"{KEY}\nARCHS = 'sm_90'"): ":3:9: error: 's' is not an architecture",
    (KEY, f"{KEY}\nARCHS = ('sm_90a', 'sm_9')"): ":3:9: error: 'sm_9' is not an architecture",
    (KEY, f"{KEY}\nARCHS = ['sm_130']"): ":3:9: error: 'sm_130' is not an architecture",
    (KEY, f"{KEY}\ndef more():\n    global ATEN_OP"): ":4:5: error: ATEN_OP is assigned again",
    (OP, 'ATEN_OP = "ahead.out"'): ":1:1: error: 'ahead.out' names no single structured operator",
}


def test_declarations_that_are_no_data_are_errors_at_their_line(aten: Project, modules: Path) -> None:
    for (old, new), expected in FAULTS.items():
        assert old in MODULE
        (modules / "one" / "aot.py").write_text(MODULE.replace(old, new, 1))
        run = aten.run(families="native_aot_stubs", native_aot=modules)
        assert run.status == 1
        assert f"one/aot.py{expected}" in run.stdout + run.stderr, (old, new, run.stdout + run.stderr)


def test_names_of_classes_and_functions_are_no_constants(aten: Project, modules: Path) -> None:
    more = f"class Own:\n    {OP}\n\n\ndef own():\n    DISPATCH_KEY = 1\n\n\nARCHS = ('sm_90a', 'sm_100')\n"
    (modules / "one" / "aot.py").write_text(MODULE.replace("topk", "ahead") + more)
    aten.build(families="native_aot_stubs", native_aot=modules)
    assert "ahead_aot_stub" in (aten.generated / "ATen" / "NativeAotStubs.h").read_text()


def test_a_declaration_of_two_modules_is_refused(aten: Project, modules: Path) -> None:
    (modules / "two").mkdir()
    for name in ("one", "two"):
        (modules / name / "aot.py").write_text(MODULE.replace("topk", "ahead"))
    run = aten.run(families="native_aot_stubs", native_aot=modules)
    assert "two/aot.py:1:1: error: CUDA ahead is declared twice" in run.stdout + run.stderr


def test_declarations_for_two_keys_are_refused_where_torchgen_writes_stubs(aten: Project, modules: Path) -> None:
    """It fails to sort them: TypeError."""
    (modules / "two").mkdir()
    for name, key in (("one", "CUDA"), ("two", "CPU")):
        (modules / name / "aot.py").write_text(MODULE.replace("topk", "ahead").replace('"CUDA"', f'"{key}"'))
    run = aten.run(families="native_aot_stubs", native_aot=modules)
    problem = "two/aot.py:1:1: error: 'ahead' is declared for CPU, and another operator for CUDA"
    assert (run.status, problem in run.stderr) == (1, True), run.stderr
    assert aten.run(families="declarations_yaml", native_aot=modules).status == 0


def test_a_wrong_declaration_is_refused_whatever_is_written(aten: Project, modules: Path) -> None:
    (modules / "one" / "aot.py").write_text(MODULE)
    run = aten.run(families="declarations_yaml", native_aot=modules)
    assert (run.status, "one/aot.py:1:1: error: 'topk' is not a structured operator" in run.stderr) == (1, True)


def test_a_folder_that_does_not_exist_is_refused(aten: Project, modules: Path) -> None:
    run = aten.run(families="native_aot_stubs", native_aot=modules / "none")
    assert (run.status, "there is no such folder" in run.stderr) == (3, True)
