"""ATen's files of some releases, and the lists of them for CMake, whose form changed in 2.8, against torchgen.gen.

All releases: python -m tests.campaigns releases --only aten
"""

from __future__ import annotations

import shutil
from pathlib import Path

import forked
import pytest
from aten.conftest import FOLDER
from aten.test_native_aot import MODULE
from never_wrong.specset import of_families, read_specs
from project import files_in
from torchgen_gen import INSTALL, SHIMS, Generated, run_gen

from releases import Broken, Source, aten, gradmill
from releases.test_all_releases import RELEASES, source_of

NATIVE = Path("ATen", "native", "native_functions.yaml")
SELECTED = "operators:\n  aten::spaced: {include_all_overloads: true}\n"
LISTS = ("--per-operator-headers", "-o", "lists.cmake", "--dry-run")


@pytest.fixture(params=RELEASES)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    return source_of(request.param, tmp_path / "unpacked")


def test_files_equal_the_release_s_own(source: Source, tmp_path: Path) -> None:
    result = aten.compare(source, tmp_path, tmp_path / "cache")
    assert result.different == []
    assert result.total > 6000


@pytest.mark.slow(37)
def test_kernels_compiled_ahead_of_time_equal_the_release_s_own(tmp_path: Path) -> None:
    source, modules = source_of("2.15.0", tmp_path / "unpacked"), tmp_path / "ops"
    for op, more in {"topk": "", "gt.Tensor": "UNCONDITIONAL = True\n", "bmm": "UNCONDITIONAL: bool = False\n"}.items():
        (modules / op).mkdir(parents=True)
        (modules / op / "aot.py").write_text(MODULE.replace("topk", op) + more)
    result = aten.compare(source, tmp_path, tmp_path / "cache", native_aot=str(modules))
    stubs = (tmp_path / "aten" / "files" / "NativeAotStubs.cpp").read_text()
    assert stubs.count("DEFINE_DISPATCH") == 3
    assert result.different == []


def test_the_lists_of_a_dry_run_equal_the_release_s_own(source: Source, tmp_path: Path) -> None:
    by_gen, ours = tmp_path / "by_gen", tmp_path / "ours"
    by_gen.mkdir()
    ours.mkdir()
    packaged = source.root / "torchgen" / "packaged" / "ATen"
    expected = run_gen(packaged, by_gen, *LISTS, root=source.root).lists
    version = source.specs.partition("torch-")[2].partition("-")[0]
    words = ["-s", packaged, "-d", INSTALL, *LISTS, *([f"release={version}"] if version else [])]
    forked.gradmill(["torchgen", *map(str, words)], ours).ok()
    assert Generated(ours).lists == expected
    assert {path.name for path in ours.iterdir()} == {*expected, "build"}


def small(source: Source, specs: Path, odd: str) -> Source:
    """A set in `specs` with few functions of a release, and odd ones before and after them."""
    shutil.copytree(source.root / "torchgen" / "packaged", specs)
    functions = of_families(read_specs(specs), {"abs", "empty", "mm", "mul"}).texts()["native_functions.yaml"]
    (specs / NATIVE).write_text(odd + functions + odd.replace("spaced", "last"))
    (specs / "autograd" / "derivatives.yaml").write_text("[]\n")
    return Source(str(specs), source.root)


@pytest.mark.slow
@pytest.mark.parametrize("selects", [False, True])
@pytest.mark.parametrize("version", ["2.4.1", "2.6.0"])
def test_kernels_of_other_namespaces_before_2_7_equal_the_release_s_own(
    version: str, selects: bool, tmp_path: Path
) -> None:
    odd = (FOLDER / "spaces.yaml").read_text()
    source = small(source_of(version, tmp_path / "unpacked"), tmp_path / "specs", odd)
    list_ = tmp_path / "selected.yaml"
    list_.write_text(SELECTED)
    words = [f"--op-selection-yaml-path={list_}"] if selects else []
    flags = ("--per-operator-headers", "--generate", "headers", "sources")
    (by_gen := tmp_path / "by_gen").mkdir()
    expected = run_gen(tmp_path / "specs" / "ATen", by_gen, *flags, *words, root=source.root).files
    variables = ["tree=aten", f"release={version}", *([f"operators={list_}"] if selects else [])]
    gradmill(source, tmp_path, tmp_path / "cache", *variables, families="headers,sources")
    made = files_in(tmp_path / "files")
    different = [name for name in expected if made.get(name) != expected[name] and not name.startswith(SHIMS)]
    assert (different, b"namespace deep {" in expected["RegisterCPU.cpp"]) == ([], True)


@pytest.mark.slow
def test_operators_of_other_libraries_before_2_7_are_refused(tmp_path: Path) -> None:
    odd = "- func: quantized::spaced(Tensor self) -> Tensor\n\n"
    source = small(source_of("2.6.0", tmp_path / "unpacked"), tmp_path / "specs", odd)
    with pytest.raises(Broken, match="kernels of operators of other libraries"):
        gradmill(source, tmp_path, tmp_path / "cache", "release=2.6.0", families="kernel_registrations")
