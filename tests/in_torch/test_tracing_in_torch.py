"""The generated kernels of TraceType in torch itself: what they record is what torch's own record, graph for graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cpp import toolchain
from project import CORE, ROOT

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gradmill[test]'")

pytestmark = [pytest.mark.slow(30)]

HEADERS = (CORE / "templates",)
# What a kernel of mv is made to forget.
FAULT = 'jit::tracer::addInputs(node, "vec", vec);'
FAULTY = {"mv", "mm", "exp"}  # what is traced then


def run(*words: object, cwd: Path = ROOT) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the next run finds again."""
    if reason := toolchain.missing():
        pytest.skip(reason)
    cache = getattr(request.config, "cache", None)
    return Path(cache.mkdir("tracing")) if cache is not None else tmp_path_factory.mktemp("tracing")


@pytest.fixture(scope="module")
def generated(folder: Path) -> Path:
    """The kernels of core."""
    words = ["specs=core", "families=trace_type", "layout=split", "shards=1"]
    run(sys.executable, "-m", "doit", *words, f"generated={folder / 'generated'}", f"cache={folder / 'cache'}")
    return folder / "generated"


def compiled(source: Path, library: Path) -> Path:
    """The library of a source; made again where the source, or torch, is newer."""
    newest = max(path.stat().st_mtime for path in (source, toolchain.torch_folder() / "version.py"))
    if not library.exists() or library.stat().st_mtime < newest:
        words = [*toolchain.compile_flags(source.parent, *HEADERS), *toolchain.hasty_flags(), "-DNDEBUG"]
        words += toolchain.link_flags()
        made = library.with_suffix(".new")
        run("c++", source, "-o", made, *words, "-Wl,-z,defs")
        made.replace(library)
    return library


def core_names(folder: Path) -> set[str]:
    """The operators of core, without overload."""
    units = json.loads((folder / "cache" / "core" / "units.json").read_text())["units"]
    return {unit["schema"].partition("(")[0].partition(".")[0] for unit in units}


def traces(folder: Path, who: str, operators: set[str], *words: object) -> dict[str, Any]:
    names = folder / f"{who}_names.json"
    names.write_text(json.dumps(sorted(operators)))
    out = folder / f"{who}.json"
    run(sys.executable, "-m", "in_torch.tracing", "--names", names, "--samples", 1, "--out", out, *words)
    result: dict[str, Any] = json.loads(out.read_text())
    return result


@pytest.fixture(scope="module")
def stock(folder: Path, generated: Path) -> dict[str, Any]:
    return traces(folder, "stock", core_names(folder))


def different(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    assert one["traces"].keys() == other["traces"].keys()
    return {what for what, result in one["traces"].items() if result != other["traces"][what]}


def test_core_kernels_record_what_torchs_record(folder: Path, generated: Path, stock: dict[str, Any]) -> None:
    source = generated / "TraceType_0.cpp"
    library = compiled(source, folder / "tracing.so")
    ours = traces(folder, "ours", core_names(folder), "--library", library, "--generated", generated)
    assert different(ours, stock) == set()
    assert stock["ours"] == []
    registered = source.read_text().count("m.impl(")
    assert len(ours["ours"]) == registered, "torch's own kernels ran for some"
    graphs = [actual for actual in stock["traces"].values() if actual.startswith("graph(")]
    assert len(graphs) > 600
    called = {line.partition("aten::")[2].partition("(")[0] for actual in graphs for line in actual.splitlines()}
    assert len({name.partition(".")[0] for name in ours["ours"]} & called) > 200


def test_a_kernel_that_forgets_an_argument_is_noticed(folder: Path) -> None:
    words = ["specs=core", "families=trace_type", "layout=split", "shards=64"]
    shards = folder / "shards"
    run(sys.executable, "-m", "doit", *words, f"generated={shards}", f"cache={folder / 'cache_of_shards'}")
    (source,) = [path for path in shards.glob("TraceType_[0-9]*.cpp") if "at::Tensor mv(" in path.read_text()]
    text, place = source.read_text(), FAULT
    head, start, kernel = text.partition("at::Tensor mv(")
    assert place in kernel
    wrong = shards / "TraceType_wrong.cpp"
    wrong.write_text(head + start + kernel.replace(place, "", 1))
    library = compiled(wrong, folder / "wrong.so")
    right = traces(folder, "right", FAULTY)
    wrong_ones = different(traces(folder, "wrong", FAULTY, "--library", library), right)
    assert wrong_ones and {what.partition(",")[0] for what in wrong_ones} == {"mv"}
    assert {what.partition(",")[0] for what in right["traces"]} > {"mv"}
