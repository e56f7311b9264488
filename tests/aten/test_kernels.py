"""Families that print kernels: their headers, their registrations, and the rules that only these depend on."""

from __future__ import annotations

from pathlib import Path

import pytest
from never_wrong.oracle import Oracle
from project import Project

from aten.conftest import FLAGS, FOLDER, Expected, generated
from gradmill.cli.commands.torchgen import TYPES

FAMILIES = "kernel_headers,kernel_registrations"
OTHER_SOURCES = ("RegisterBackendSelect", "RegisterSchema", "RegisterFunctionalization")


# An operator that is not used for training is registered; `odd_own.out` is, and its variants are not.
SELECTED = """
operators:
  aten::odd_structured: {}
  aten::odd_sizes: {is_used_for_training: false}
  aten::odd_own.out: {}
  aten::odd_written_.maybe: {}
"""


OPTIONS = ["", "selected", pytest.param("mps,xpu,mtia,rocm", marks=pytest.mark.slow)]


@pytest.mark.parametrize("options", OPTIONS)
def test_odd_kernels_equal_torchgens(aten: Project, by_gen: Expected, options: str) -> None:
    entries, path = aten.path("native_functions.yaml"), aten.specs / "selected.yaml"
    # First, as upstream orders keys by hash where the first kernel for CPU and CUDA is that of a ufunc.
    entries.write_text((FOLDER / "kernels.yaml").read_text() + entries.read_text())
    path.write_text(SELECTED)
    if options == "selected":
        words, variables = [f"--op-selection-yaml-path={path}"], {"operators": path}
    else:
        words, variables = [f"--{name}" for name in options.split(",") if name], {"backends": options}
    files = generated(aten, families=f"{FAMILIES},dispatcher_api", **variables)
    expected = by_gen(*words)
    assert {name for name in files if files[name] != expected.get(name)} == set()
    headers = {name for name in expected if name.endswith(("_native.h", "_meta.h", "_dispatch.h", "Functions_inl.h"))}
    sources = {name for name in expected if name.startswith(("Register", "Ufunc"))}
    assert headers - files.keys() == set()
    assert {name for name in sources - files.keys() if not name.startswith(OTHER_SOURCES)} == set()


# ---- what torchgen refuses

OUT = "odd.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
FUNCTIONAL, INPLACE = "odd(Tensor self) -> Tensor", "odd_(Tensor(a!) self) -> Tensor(a!)"
PLAIN, STRUCTURED = "dispatch: {CPU: odd}", "structured: True\n  dispatch: {CPU: odd}"
DELEGATES = "structured_delegate: odd.out"


def functions(*rows: tuple[str, str]) -> str:
    """Entries with these schemas, and these other keys."""
    return "\n".join(f"- func: {func}\n  {more}\n" for func, more in rows)


def structured(func: str, out: str, more: str = "", of_out: str = STRUCTURED) -> str:
    """A functional function that delegates to a structured out variant."""
    return functions((func, f"{DELEGATES}\n  {more}"), (out, of_out))


REFUSED = {
    "none of them is functional": functions((INPLACE, ""), (OUT, "")),
    "has scratch arguments": functions(
        ("odd(Tensor self) -> (Tensor, Tensor)", PLAIN),
        ("odd.scratch(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)", PLAIN),
    ),
    "its variant 'odd' does not": functions((FUNCTIONAL, PLAIN), (OUT, STRUCTURED)),
    "its variant 'odd.out' does not": functions(
        (FUNCTIONAL, "structured_delegate: more.out"),
        (OUT, PLAIN),
        ("more(Tensor self, int n) -> Tensor", "structured_delegate: more.out"),
        ("more.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)", STRUCTURED),
    ),
    "in namespace 'mine', its variant in 'aten'": functions((FUNCTIONAL, PLAIN), (f"mine::{OUT}", PLAIN)),
    "but not named so": functions(
        ("odd.x(Tensor self, Tensor x) -> (Tensor, Tensor)", PLAIN),
        ("odd(Tensor self, Tensor(a!) x) -> Tensor", PLAIN),
        ("odd.x_out(Tensor self, Tensor x, *, Tensor(a!) y, Tensor(b!) z) -> (Tensor(a!), Tensor(b!))", PLAIN),
    ),
    "its out variant is 'odd.out'": functions(
        (FUNCTIONAL, "structured_delegate: more.out"),
        (OUT, STRUCTURED),
        ("more(Tensor self, int n) -> Tensor", "structured_delegate: more.out"),
        ("more.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)", STRUCTURED),
    ),
    "a composite cannot be structured": structured(
        FUNCTIONAL, OUT, of_out="structured: True\n  dispatch: {CompositeImplicitAutograd: odd_symint}"
    ),
    "its kernel is generated": structured(FUNCTIONAL, OUT, of_out="structured: True\n  dispatch: {Meta: odd}"),
    "autogen names odd.out, but nothing is generated": functions(
        (FUNCTIONAL, f"autogen: odd.out\n  {PLAIN}"), (OUT, PLAIN)
    ),
    "'odd' is tagged generated, and it is declared": functions(
        (FUNCTIONAL, f"tags: generated\n  autogen: odd.out\n  {PLAIN}")
    ),
    "tagged generated": functions((FUNCTIONAL, f"tags: generated\n  {PLAIN}")),
    "cannot take tensor options": structured(
        "odd(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)"
        " -> Tensor",
        OUT,
    ),
    "the kernels of a structured function are registered": structured(
        FUNCTIONAL, OUT, "manual_kernel_registration: True"
    ),
    "in several namespaces: at::native, mine::native": functions((FUNCTIONAL, "dispatch: {CPU: odd, CUDA: mine::odd}")),
    "takes SymInt by its name": functions((FUNCTIONAL, "dispatch: {CPU: odd_symint}")),
    "cannot be passed on as '::std::optional<at::Tensor> &'": functions(
        ("odd_(Tensor(a!) self, Tensor(b!)? x) -> Tensor(a!)", PLAIN)
    ),
    "needs one loop, and there is first and second": structured(
        "odd(Tensor self, Tensor other) -> Tensor",
        "odd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        of_out="structured: True\n  ufunc_inner_loop: {Generic: first (Float), ScalarOnly: second (Bool)}",
    ),
    "on a function without two tensors": structured(
        FUNCTIONAL,
        OUT,
        of_out="structured: True\n  ufunc_inner_loop: {Generic: odd (Float), CUDAFunctorOnSelf: odd (Float)}",
    ),
    "Bool has no CUDAFunctor": structured(
        "odd(Tensor self, Tensor other) -> Tensor",
        "odd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        of_out="structured: True\n  ufunc_inner_loop: {Generic: odd (Bool), CUDAFunctor: odd (Float)}",
    ),
    "has a loop over vectors and none over scalars": structured(
        FUNCTIONAL,
        OUT,
        of_out="structured: True\n  ufunc_inner_loop: {CPUVector: odd (Float), ScalarOnly: odd (Bool)}",
    ),
    "can only write to tensors": structured(
        "odd(Tensor self) -> Tensor[]", "odd.out(Tensor self, *, Tensor(a!)[] out) -> ()"
    ),
}
TYPE = functions((FUNCTIONAL, ""), ("odd.x(Tensor self, GraphModule x) -> Tensor", ""))
ACCEPTED = {
    "kernels that are omitted": functions((FUNCTIONAL, "dispatch: {CPU: odd, MPS: mine::odd_symint}")),
    "a key without kernels": structured(FUNCTIONAL, OUT),
}


def _few(project: Project, entries: str) -> Project:
    """A set of some functions only."""
    project.path("native_functions.yaml").write_text(entries)
    project.path("derivatives.yaml").write_text("[]\n")
    return project


@pytest.mark.parametrize("message", REFUSED)
def test_what_torchgen_refuses_is_refused_with_a_reason(
    aten: Project, tmp_path: Path, torchgen: Oracle, message: str
) -> None:
    project = _few(aten, REFUSED[message])
    run = project.run(families=FAMILIES)
    assert message in run.stderr
    assert "native_functions.yaml:" in run.stderr
    assert run.status == 1
    assert torchgen.run_gen(project.specs / "ATen", tmp_path, *FLAGS)


# Of each kind one: what the groups of variants refuse for all files, what kernels do, and what their headers do.
BY_TYPE = [
    "none of them is functional",
    "its variant 'odd' does not",
    "a composite cannot be structured",
    "tagged generated",
    "its kernel is generated",
    "cannot take tensor options",
    "takes SymInt by its name",
    "in several namespaces: at::native, mine::native",
]


@pytest.mark.parametrize("message", BY_TYPE)
def test_each_type_of_files_alone_is_refused_if_torchgen_refuses_it(
    aten: Project, tmp_path: Path, torchgen: Oracle, message: str
) -> None:
    project = _few(aten, REFUSED[message])
    for type_ in TYPES:
        run = project.run(families=type_)
        error = torchgen.run_gen(project.specs / "ATen", tmp_path, FLAGS[0], "--generate", type_)
        assert (run.status, message in run.stderr) == ((1, True) if error else (0, False)), type_


CLASHES = {"zz_native": "", "zz_ops": "", "zz_cpu_dispatch": "dispatch: {CPU: zz}", "zz_meta": None}


@pytest.mark.parametrize("name", CLASHES)
def test_two_operators_have_no_header_of_one_name(aten: Project, tmp_path: Path, torchgen: Oracle, name: str) -> None:
    aten.build(families="headers")
    before, own = aten.files(), CLASHES[name]
    aten.append("native_functions.yaml", "\n" + functions((f"{name}(Tensor self) -> Tensor", "")))
    aten.append("native_functions.yaml", "\n" + functions(("zz(Tensor self) -> Tensor", own or "")))
    run = aten.run(families="headers")
    error = torchgen.run_gen(aten.specs / "ATen", tmp_path, FLAGS[0], "--generate", "headers")
    assert ("duplicate file write" in (error or ""), run.status) == ((False, 0) if own is None else (True, 1))
    if own is not None:
        assert f"error: {name}: 'zz' and '{name}' would both have the file 'ATen/ops/{name}.h'" in run.stderr
        assert aten.files() == before


@pytest.mark.parametrize("what", ACCEPTED)
def test_what_torchgen_accepts_is_accepted(aten: Project, by_gen: Expected, what: str) -> None:
    files = generated(_few(aten, ACCEPTED[what]), families=FAMILIES)
    expected = by_gen()
    assert {name for name in files if files[name] != expected.get(name)} == set()


def test_an_error_in_one_function_of_an_operator_is_in_its_entry(aten: Project) -> None:
    run = _few(aten, TYPE).run(families="kernel_headers")
    assert "native_functions.yaml:4:28: error: odd.x: type 'GraphModule' has no C++ equivalent" in run.stderr
    assert run.stderr.endswith("\n1 error\n")
