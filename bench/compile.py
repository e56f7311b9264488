"""From a saved formula to a library, on the real specs: `python -m bench.compile`.

Two builds of the same edits: torchgen and Ninja on `Functions.cpp`, and gradmill and Ninja on shards, with separate
sources for the gradient functions and the frames around them. Both use the same compiler, flags, headers and linker,
without and with precompiled headers, and with the slim headers of `examples/slim`. The floor is an empty file with the
includes of formulas: no split can be faster.
Every edit is new. The figures exclude the first builds. `--cxx clang++ --linker lld` selects another compiler and
linker than the system's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import edits
from bench.specs import DERIVATIVES, SpecFolder, make
from examples.slim import slim

ROOT = Path(__file__).resolve().parent.parent
_RESULTS = ROOT / "build" / "bench"
PLACE = Path("torch/csrc/autograd/generated")  # torch's own headers include Functions.h from here

# FunctionsManual.h is not in it: that includes Functions.h, which is generated.
_PRECOMPILED = """\
#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>
#include <ATen/core/functional.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
"""
# The includes of the sources of formulas. They contain no Node, so an edit does not rebuild them.
_FORMULAS = """\
#define GRADMILL_SHARD -1
#include "torch/csrc/autograd/FunctionsManual.h"
"""
_RULES = """\
rule generate
  command = cd $root && $generator > /dev/null && touch $stamp
  restat = 1
rule precompile
  command = $launcher $cxx $whole -x c++-header $in -o $out -MMD -MF $out.d
  depfile = $out.d
  deps = gcc
rule compile
  command = $launcher $cxx $header -c $in -o $out -MMD -MF $out.d
  depfile = $out.d
  deps = gcc
rule link
  command = $cxx -shared $in -o $out $libraries
"""


_SLIM = "slim-headers"
_PRELUDE = f"{_SLIM}/slim/{slim.PRELUDE}"


class Side(NamedTuple):
    """One program, the number of its shards, whether it has a precompiled header, and slim ones for formulas."""

    program: str
    shards: int
    precompiled: bool
    slim: bool = False

    @property
    def name(self) -> str:
        """`gradmill-16-precompiled`, `gradmill-64-slim`."""
        words = [self.program, *([str(self.shards)] if self.shards > 1 else [])]
        return "-".join([*words, *(["slim"] if self.slim else ["precompiled"] if self.precompiled else [])])


BASELINE = Side("torchgen", 1, False)
SIDES = (
    BASELINE,
    Side("torchgen", 1, True),
    Side("gradmill", 16, False),
    Side("gradmill", 16, True),
    Side("gradmill", 64, True),
    Side("gradmill", 64, True, slim=True),
)


class Took(NamedTuple):
    """What a build took, in seconds."""

    elapsed: float
    processor: float


class Setup(NamedTuple):
    """A folder in which one side builds with Ninja."""

    side: Side
    folder: Path

    def ninja(self, *words: str) -> Took:
        """Builds the targets. Exits with Ninja's output if the build fails."""
        start, before = time.perf_counter(), _processor()
        done = subprocess.run(["ninja", "-C", str(self.folder), *words], check=False, capture_output=True, text=True)
        took = Took(time.perf_counter() - start, _processor() - before)
        if done.returncode:
            raise SystemExit(f"{self.side.name}:\n{done.stdout[-8000:]}{done.stderr}")
        return took


def _processor() -> float:
    """The processor time of all processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def prepare(side: Side, place: Path, specs: SpecFolder, options: argparse.Namespace) -> Setup:
    """Writes the Ninja file of a side and its headers; unchanged files keep their times."""
    folder = place / side.name
    (folder / PLACE).mkdir(parents=True, exist_ok=True)
    texts = {
        "precompiled.h": _PRECOMPILED,
        "formulas.h": _FORMULAS,
        "floor_formulas.cpp": _FORMULAS,
        "build.ninja": _ninja_file(side, folder, specs, options),
    }
    for name, text in texts.items():
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)
    if side.slim:
        slim.write(f"{_torch()}/include", str(folder / PLACE), str(folder / _SLIM))
    return Setup(side, folder)


def _ninja_file(side: Side, folder: Path, specs: SpecFolder, options: argparse.Namespace) -> str:
    generated = folder / PLACE
    if side.program == "torchgen":
        sources = [generated / "Functions.cpp"]
        generator = f"{sys.executable} -m bench.torchgen_run {specs.folder} {generated} nodes"
    else:
        sources = [generated / f"Functions_{k}{part}.cpp" for k in range(side.shards) for part in ("", "_formulas")]
        words = f"specs={specs.folder} generated={generated} cache={folder / 'cache'} layout=split shards={side.shards}"
        words += " families=nodes"
        generator = f"{sys.executable} -m doit {words}"
    torch, python = _torch(), _python_headers()
    system = f"-isystem {torch}/include -isystem {torch}/include/torch/csrc/api/include -isystem {python}"
    name = options.linker or _linker(options.cxx)
    # mold forks, and its processor time would be that of a process that nothing waits for.
    linker = f"-fuse-ld={name}{' -Wl,--no-fork' * (name == 'mold')}"
    suffix = "pch" if "clang" in options.cxx else "gch"
    lines = [
        f"cxx = {options.cxx} -std=c++20 {options.optimize} -fPIC -D_GLIBCXX_USE_CXX11_ABI=1 -I{folder} {system}",
        "header =",
        f"launcher = {_launcher(folder)}" if side.slim else "launcher =",
        # Clang: without it each source instantiates the templates of torch's headers again. GCC has no equivalent.
        "whole = -fpch-instantiate-templates" if "clang" in options.cxx else "whole =",
        f"libraries = {linker} -L{torch}/lib -ltorch_python -ltorch_cpu -lc10",
        f"root = {ROOT}",
        f"generator = {generator}",
        "stamp = stamp",
        _RULES.replace("touch $stamp", f"touch {folder / 'stamp'}"),
        f"build stamp | {' '.join(map(str, sources))}: generate {specs.native} {specs.derivatives} {specs.tags}",
    ]
    if side.slim:
        lines.append(f"build {folder / _PRELUDE}.{suffix}: precompile {folder / _PRELUDE} || stamp")
    if side.precompiled:
        lines += [f"build {name}.h.{suffix}: precompile {name}.h || stamp" for name in ("precompiled", "formulas")]
    for path in (*sources, folder / "floor_formulas.cpp"):
        formulas = path.stem.endswith("_formulas")
        header = ("formulas.h" if formulas else "precompiled.h") if side.precompiled else ""
        needs = f"| {header}.{suffix} " if header else ""
        needs += f"{folder / _PRELUDE}.{suffix} " if side.slim and formulas else ""
        lines.append(f"build {path.stem}.o: compile {path} {needs}|| stamp")
        lines += [f"  header = -include {header}"] if header else []
    lines += [f"build libnodes.so: link {' '.join(f'{path.stem}.o' for path in sources)}", "default libnodes.so", ""]
    return "\n".join(lines)


def _launcher(folder: Path) -> str:
    return f"{sys.executable} -I -S {slim.__file__} compile {folder / _SLIM} {folder / _PRELUDE}"


def _torch() -> Path:
    from importlib.util import find_spec

    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("torch is not installed: pip install 'gradmill[test]'")
    return Path(next(iter(spec.submodule_search_locations)))


def _python_headers() -> str:
    import sysconfig

    return sysconfig.get_paths()["include"]


class Edit(NamedTuple):
    """A measured edit of a formula; a new `number` makes a new edit."""

    title: str
    apply: Callable[[edits.Texts, int], edits.Texts]


def of_one_node(texts: edits.Texts, number: int) -> edits.Texts:
    """Another backward formula for `digamma`: it has no foreach Node, so one Node changes."""
    old = "- name: digamma(Tensor self) -> Tensor\n  self: grad * "
    if texts[DERIVATIVES].count(old) != 1:
        raise SystemExit(f"{DERIVATIVES} of this torch lacks the text that the benchmark edits: {old}")
    return {**texts, DERIVATIVES: texts[DERIVATIVES].replace(old, f"{old}{number} * ")}


FLOOR = "floor"
EDITS = (
    Edit("a formula of one Node", of_one_node),
    Edit("a formula of a Node and its foreach Node", edits.elementwise),
)


def main() -> None:
    options = _options()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        _measure(options.folder.resolve(), options)
        return
    with tempfile.TemporaryDirectory(prefix="gradmill-compile-") as folder:
        _measure(Path(folder).resolve(), options)


def _measure(place: Path, options: argparse.Namespace) -> None:
    sides = [side for side in SIDES if side is BASELINE or not options.only or side.name in options.only]
    shutil.rmtree(place / "set", ignore_errors=True)
    specs = make(place / "set", 1)
    base = specs.texts()
    numbers = dict.fromkeys(EDITS, int(time.time()))  # new even in a folder with earlier edits
    specs.write(_edited(base, numbers))
    setups = [prepare(side, place, specs, options) for side in sides]
    for setup in setups:
        _log(f"{setup.side.name}: first build", setup.ninja("-j2").elapsed)
    took: dict[tuple[str, Side], list[Took]] = {}
    for run in range(options.runs):
        for edit in EDITS:
            time.sleep(0.05)
            numbers[edit] += 1
            specs.write(_edited(base, numbers))
            for setup in setups if run % 2 == 0 else setups[::-1]:
                duration = setup.ninja()
                took.setdefault((edit.title, setup.side), []).append(duration)
                _log(f"{setup.side.name}: {edit.title}", duration.elapsed)
        for setup in setups:
            (setup.folder / "floor_formulas.o").unlink(missing_ok=True)
            duration = setup.ninja("floor_formulas.o")
            took.setdefault((FLOOR, setup.side), []).append(duration)
            _log(f"{setup.side.name}: the headers alone", duration.elapsed)
    elapsed = {key: statistics.median(one.elapsed for one in values) for key, values in took.items()}
    print(_table(elapsed, sides, options, f"median of {options.runs}"))
    processor = {key: min(one.processor for one in values) for key, values in took.items()}
    print(_table(processor, sides, options, f"processor time, least of {options.runs}"))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "edit": edit,
            "side": side.name,
            "seconds": [one.elapsed for one in values],
            "processor": [one.processor for one in values],
        }
        for (edit, side), values in took.items()
    ]
    settings = {
        "compiler": options.cxx,
        "linker": options.linker,
        "optimize": options.optimize,
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }
    options.json.write_text(json.dumps({**settings, "rows": rows}, indent=1) + "\n")


def _edited(base: edits.Texts, numbers: dict[Edit, int]) -> edits.Texts:
    """The specs with all edits applied, each with its number."""
    texts = base
    for edit, number in numbers.items():
        texts = edit.apply(texts, number)
    return texts


def _log(what: str, seconds: float) -> None:
    sys.stderr.write(f"{what}: {seconds:.1f} s\n")


def _table(result: dict[tuple[str, Side], float], sides: list[Side], options: argparse.Namespace, kind: str) -> str:
    lines = [
        f"Edit to library, {options.cxx} {options.optimize}, {options.linker or 'usual'} linker, "
        f"{kind}; how many times faster than torchgen.",
        "",
        "| build | " + " | ".join(edit.title for edit in EDITS) + " | floor: the headers alone |",
        "|---|" + "---|" * (len(EDITS) + 1),
    ]
    for side in sides:
        cells = []
        for edit in EDITS:
            duration = result[edit.title, side]
            cells.append(f"{duration:.1f} s, {result[edit.title, BASELINE] / duration:.1f} x")
        lines.append(f"| {side.name} | {' | '.join(cells)} | {result[FLOOR, side]:.1f} s |")
    return "\n".join(lines)


def _linker(cxx: str) -> str:
    """The first of these linkers that the compiler finds."""
    for name in ("mold", "lld", "gold"):
        if not subprocess.run([cxx, f"-fuse-ld={name}", "-Wl,--version"], capture_output=True, check=False).returncode:
            return name
    return "bfd"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.compile", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="edits of each kind (3)")
    parser.add_argument("--only", nargs="+", choices=[s.name for s in SIDES], help="these builds, and torchgen's")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="work there, and reuse the builds next time")
    parser.add_argument("--optimize", default="-O2", help="level of optimization (-O2)")
    parser.add_argument("--cxx", default="c++", help="the compiler (c++)")
    parser.add_argument("--linker", default="", metavar="NAME", help="-fuse-ld: the first of mold, lld, gold, bfd")
    parser.add_argument("--json", type=Path, default=_RESULTS / "compile.json", metavar="FILE", help="all measurements")
    return parser.parse_args()


if __name__ == "__main__":
    main()
