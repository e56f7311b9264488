"""AOTInductor's C functions: their text, the module with their lists, the comparison with headers of before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torchgen
from msgspec.structs import replace
from project import Project, files_in
from torchgen_gen import SHIMS, Refused, run_gen

from aten.conftest import FOLDER
from gradmill.families.c_shims.devices import devices_of
from gradmill.problems.problem import Problem
from gradmill.releases import resolve
from gradmill.reports.shim_changes import changes, headers
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config

LISTS = """
# Operators.
inductor_fallback_ops: dict[str, dict[str, str | dict[str, list[str] | str]]] = {
    "aten.odd_c.default": {},
    "aten.odd_c.out": {"since": "TORCH_VERSION_2_11_0"},
    "aten.odd_c_.default": {
        "v2": {"new_args": ["d", "c"], "since": "TORCH_VERSION_2_12_0"},
        "v4": {"new_args": ["b"]},
        "since": "TORCH_VERSION_2_9_0",
        "v3": {},
    },
    "aten.odd_c.quiet": {"v2": {"new_args": ["k"]}},
    "aten.odd_c.storage": {},
    "aten.odd_c.many": {},
    "aten.odd_c.maybe": {},
    "aten.convolution_backward_odd.default": {},
    "aten.odd_c.sym": {"v2": {"new_args": ["n"]}},
    "aten.odd_structured.default": {},
    "aten.odd_structured.out": {},
    "aten.odd_lists_.default": {},
    "aten.odd_core.out": {},
    "aten.__or__.odd": {},
    "aten.missing.default": {},
    "quantized.odd_elsewhere_c.default": {},
}
aten_shimified_ops = {
    "aten.odd_c.sym": {},
    "aten.odd_c.out": {},
    "aten.odd_lists_.default": {"since": "TORCH_VERSION_2_10_0"},
}
"""
Oracle = Callable[..., dict[str, bytes]]


def lists_at(project: Project) -> Path:
    """The place of the module, next to the set, whose layout is that of a package."""
    return project.specs.parent / "aoti" / "fallback_ops.py"


@pytest.fixture
def shims(aten: Project) -> Project:
    """The tiny set with odd functions and with these lists."""
    for name in ("elsewhere.yaml", "shims.yaml"):
        aten.append("native_functions.yaml", (FOLDER / name).read_text())
    lists_at(aten).parent.mkdir()
    lists_at(aten).write_text(LISTS)
    return aten


@pytest.fixture
def by_gen(shims: Project, tmp_path: Path) -> Oracle:
    """Calls torchgen.gen with the lists of the set, for its shims alone. `before`: headers that are there."""
    root, installed = tmp_path / "root", Path(torchgen.__file__).parent
    (root / "torchgen" / "aoti").mkdir(parents=True)
    for path in installed.iterdir():
        if path.name not in ("aoti", "__pycache__"):
            (root / "torchgen" / path.name).symlink_to(path)
    (root / "torchgen" / "aoti" / "__init__.py").touch()

    def run(*words: str, before: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
        (root / "torchgen" / "aoti" / "fallback_ops.py").write_text(lists_at(shims).read_text())
        folder = tmp_path / f"gen{len(list(tmp_path.glob('gen*')))}"
        (folder / "install" / SHIMS).mkdir(parents=True)
        for name, text in (before or {}).items():
            (folder / "install" / SHIMS / name).write_bytes(text)
        flags = ("--per-operator-headers", "--generate", "sources", *words)
        return files_in(run_gen(shims.specs / "ATen", folder, *flags, root=root).folder / "install" / SHIMS)

    return run


def generated(project: Project, **variables: object) -> dict[str, bytes]:
    project.build(families="c_shims", **variables)
    return files_in(project.generated / "aoti")


@pytest.mark.parametrize("extend", [False, True])
def test_odd_shims_equal_torchgens(shims: Project, by_gen: Oracle, *, extend: bool) -> None:
    expected = by_gen("--update-aoti-c-shim", *["--extend-aoti-c-shim"] * extend)
    assert generated(shims, backends="mps,xpu", extend_shims=int(extend)) == expected
    if extend:
        return
    assert b"aoti_torch_cuda_odd_c__v4(" in expected["c_shim_cuda.cpp"]
    assert b"aoti_torch_cpu_odd_c_default(AtenTensorHandle last" in expected["c_shim_cpu.h"]


# An edit, and of the problem with the header for CPU its beginning and that of its hint; none: the header is the same.
EDITS = {
    "nothing": ("", "", "", ()),
    "an argument": (
        "native",
        "Scalar d=2) -> Tensor(a!)",
        "Scalar d=2, int? late=None) -> Tensor(a!)",
        (
            "the parameters of aoti_torch_cpu_odd_c__v4 are no longer those in c_shim_cpu.h",
            'give "aten.odd_c_.default" in fallback_ops.py "v5": {"new_args": ["late"], "since": "TORCH_VERSION_2',
        ),
    ),
    "a type": (
        "native",
        "convolution_backward_odd(Tensor self)",
        "convolution_backward_odd(Tensor? self)",
        ("the parameters of aoti_torch_cpu_convolution_backward_odd are", "undo the change, or add an operator"),
    ),
    "a new operator": (
        "lists",
        '    "aten.missing.default": {},\n',
        '    "aten.odd_second_.default": {},\n',
        ("c_shim_cpu.h does not declare aoti_torch_cpu_odd_second_", "if the function is new, run gradmill torchgen"),
    ),
    "an operator less": (
        "lists",
        '    "aten.__or__.odd": {},\n',
        "",
        ("c_shim_cpu.h declares aoti_torch_cpu___or___odd, which compiled models call", "list the operator again"),
    ),
}


def problems_with(project: Project, name: str, before: str) -> list[Problem]:
    variables = {"specs": project.specs, "cache": project.specs.parent / "other", "families": "c_shims"}
    db = Session.open(read_config({name: str(value) for name, value in variables.items()})).db
    return changes(db, headers(db)[name], before)


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_header_is_refused_as_torchgen_does(shims: Project, by_gen: Oracle, edit: str) -> None:
    at, old, new, expected = EDITS[edit]
    files = generated(shims)
    path = lists_at(shims) if at == "lists" else shims.path("native_functions.yaml")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1) if at else text)
    found = problems_with(shims, "c_shim_cpu.h", files["c_shim_cpu.h"].decode().replace("\n", "\r\n"))
    assert len(found) == bool(expected)
    for problem in found:
        assert problem.problem.startswith(expected[0])
        assert problem.hint.startswith(expected[1])
    if not expected:
        by_gen(before={"c_shim_cpu.h": files["c_shim_cpu.h"]})
        return
    with pytest.raises(Refused, match="AOTITorchError"):
        by_gen(before={"c_shim_cpu.h": files["c_shim_cpu.h"]})


def test_an_empty_header_is_refused(shims: Project, by_gen: Oracle) -> None:
    found = problems_with(shims, "c_shim_aten.h", "")
    assert [problem.problem for problem in found] == [
        f"c_shim_aten.h does not declare aoti_torch_aten_{name}" for name in ("odd_c_out", "odd_c_sym", "odd_lists_")
    ]
    with pytest.raises(Refused, match="AOTITorchError"):
        by_gen(before={"c_shim_aten.h": b""})


FAULTS = {
    "inductor_fallback_ops = {**others}": ":1:25: error: this is computed, and the module is not executed",
    "inductor_fallback_ops = set()": ":1:25: error: not a dictionary, written as a literal",
    "inductor_fallback_ops = {'aten.mul' + '.Tensor': {}}": ":1:26: error: this is computed",
    "inductor_fallback_ops = {}\ninductor_fallback_ops.update(x=1)": ":2:1: error: the module is read as data",
    "import os\ninductor_fallback_ops = {}": ":1:1: error: the module is read as data",
    "inductor_fallback_ops = {": ":1:25: error: not Python: '{' was never closed",
    "inductor_fallback_ops = {1: {}}": ":1:26: error: not the name of an operator: 1",
    "inductor_fallback_ops = {'aten.mv.default': []}": ":1:45: error: not a dictionary of versions: []",
    "inductor_fallback_ops = {'aten.mv.default': {'v1': {}}}": ":1:45: error: version 'v1' is already defined",
    "inductor_fallback_ops = {'aten.mv.default': {'w2': {}}}": ":1:45: error: not a version: 'w2'",
    "inductor_fallback_ops = {'aten.mv.default': {'v2': ['x']}}": ":1:45: error: version 'v2' is not a dictionary",
    "inductor_fallback_ops = {'aten.mv.default': {'v2': {'new_args': 'x'}}}": ":1:45: error: the new arguments of",
    "inductor_fallback_ops = {'aten.mv.default': {'since': '2.13'}}": ":1:45: error: 'since' is not a macro",
    "x = {}": ":1:1: error: the list inductor_fallback_ops is missing",
}  # fmt: skip


def test_lists_that_are_no_data_are_errors_at_their_line(shims: Project) -> None:
    for text, expected in FAULTS.items():
        lists_at(shims).write_text(f"{text}\naten_shimified_ops = {{}}\n")
        run = shims.run(families="c_shims")
        assert run.status == 1
        assert f"fallback_ops.py{expected}" in run.stdout + run.stderr, text


def test_a_set_without_the_lists_has_no_shims(aten: Project) -> None:
    run = aten.run(families="c_shims")
    assert "'c_shims' is made from fallback_ops.py, which the spec set does not have" in run.stderr
    aten.build(families="sources")
    assert not (aten.generated / "aoti").exists()


@pytest.mark.parametrize(("release", "devices"), [("2.7", ["cpu"]), ("2.8", ["cpu", "cuda"])])
def test_until_2_7_only_devices_with_files_of_kernels_have_functions(release: str, devices: list[str]) -> None:
    assert [*devices_of(replace(resolve(release), omitted_keys=frozenset({"CUDA"})))] == devices
