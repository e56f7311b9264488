"""ATen's files of some releases, and the lists of them for CMake, whose form changed in 2.8, against torchgen.gen.

All releases: python -m tests.releases --only aten
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from aten.test_native_aot import MODULE
from project import ROOT
from torchgen_gen import INSTALL, Generated, run_gen

from releases import Source, aten
from releases.test_all_releases import VERSIONS, source_of

LISTS = ("--per-operator-headers", "-o", "lists.cmake", "--dry-run")


@pytest.fixture(params=VERSIONS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    return source_of(request.param, tmp_path / "unpacked")


@pytest.mark.alternates(2)
@pytest.mark.slow
def test_files_equal_the_release_s_own(source: Source, tmp_path: Path) -> None:
    result = aten.compare(source, tmp_path, tmp_path / "cache")
    assert (result.is_equal, result.problems()) == (True, [])
    assert result.total > 6000


@pytest.mark.alternates(2)
@pytest.mark.slow
def test_kernels_compiled_ahead_of_time_equal_the_release_s_own(tmp_path: Path) -> None:
    source, modules = source_of("2.15.0", tmp_path / "unpacked"), tmp_path / "ops"
    for op, more in {"topk": "", "gt.Tensor": "UNCONDITIONAL = True\n", "bmm": "UNCONDITIONAL: bool = False\n"}.items():
        (modules / op).mkdir(parents=True)
        (modules / op / "aot.py").write_text(MODULE.replace("topk", op) + more)
    result = aten.compare(source, tmp_path, tmp_path / "cache", native_aot=str(modules))
    stubs = (tmp_path / "aten" / "files" / "NativeAotStubs.cpp").read_text()
    assert stubs.count("DEFINE_DISPATCH") == 3
    assert result.different == []


@pytest.mark.slow
def test_the_lists_of_a_dry_run_equal_the_release_s_own(source: Source, tmp_path: Path) -> None:
    by_gen, ours = tmp_path / "by_gen", tmp_path / "ours"
    by_gen.mkdir()
    ours.mkdir()
    packaged = source.root / "torchgen" / "packaged" / "ATen"
    expected = run_gen(packaged, by_gen, *LISTS, root=source.root).lists
    version = source.specs.partition("torch-")[2].partition("-")[0]
    words = ["-s", packaged, "-d", INSTALL, *LISTS, *([f"release={version}"] if version else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-m", "pipeline", "torchgen", *words], cwd=ours, env=environment, check=True)
    assert Generated(ours).lists == expected
    assert {path.name for path in ours.iterdir()} == {*expected, "build"}
