"""AOTInductor's C functions: their text, the module with their lists, the comparison with headers of before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torchgen
from project import Project, files_in
from torchgen_gen import SHIMS, Refused, run_gen

from aten.conftest import FOLDER

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
    """The small set with odd functions and with these lists."""
    for name in ("elsewhere.yaml", "shims.yaml"):
        aten.append("native_functions.yaml", (FOLDER / name).read_text())
    lists_at(aten).parent.mkdir()
    lists_at(aten).write_text(LISTS)
    return aten


@pytest.fixture
def by_gen(shims: Project, tmp_path: Path) -> Oracle:
    """Calls torchgen.gen with the lists of the set, for its shims alone."""
    root, installed = tmp_path / "root", Path(torchgen.__file__).parent
    (root / "torchgen" / "aoti").mkdir(parents=True)
    for path in installed.iterdir():
        if path.name not in ("aoti", "__pycache__"):
            (root / "torchgen" / path.name).symlink_to(path)
    (root / "torchgen" / "aoti" / "__init__.py").touch()

    def run(*words: str) -> dict[str, bytes]:
        (root / "torchgen" / "aoti" / "fallback_ops.py").write_text(lists_at(shims).read_text())
        folder = tmp_path / f"gen{len(list(tmp_path.glob('gen*')))}"
        folder.mkdir()
        flags = ("--per-operator-headers", "--generate", "sources", *words)
        return files_in(run_gen(shims.specs / "ATen", folder, *flags, root=root).folder / "install" / SHIMS)

    return run


def generated(project: Project, **variables: object) -> dict[str, bytes]:
    project.build(families="c_shims", **variables)
    return files_in(project.generated / "aoti")


def test_odd_shims_equal_torchgens(shims: Project, by_gen: Oracle) -> None:
    expected = by_gen("--update-aoti-c-shim")
    assert generated(shims, backends="mps,xpu") == expected
    assert b"aoti_torch_cuda_odd_c__v4(" in expected["c_shim_cuda.cpp"]
    assert b"aoti_torch_cpu_odd_c_default(AtenTensorHandle last" in expected["c_shim_cpu.h"]
