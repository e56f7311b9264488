"""How the library is compiled, and what runs when it is there and before: a Ninja file of all, in a kept folder."""

from __future__ import annotations

import fcntl
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from cpp.toolchain import compile_flags, hasty_flags, link_flags

from in_torch.sources import Sources, write

HERE = Path(__file__).parent
PROCESSES = 2
_INCLUDED = ("-include", "counting.h", "-include", "registering.h")  # before files of kernels
_DEVICE_UNITS = (HERE / "toy_operators.cpp", HERE.parents[1] / "examples" / "vendor" / "csrc" / "device.cpp")
RECORDING = [  # what a process of `record` imports
    *(HERE / f"{name}.py" for name in ("record", "calls", "samples", "described")),
    *(HERE / f"{name}.py" for name in ("own_cases", "more_cases", "kernels", "toy")),
    HERE.parent / "cpp" / "cases.py",
    HERE.parent / "torch_seed.py",
]


class Library(NamedTuple):
    """The kernels as one library, and the processes that are asked: each makes a part of the calls."""

    name: str
    units: tuple[Path, ...]  # beside the generated files
    parts: int
    records: str  # what the names of its records begin with
    stock_apart: bool  # whether torch's answers come from processes of their own

    def record(self, who: str, part: int) -> str:
        """The file that a process writes: `who` is ours or stock."""
        return f"{self.records}{who}_{part}.record"

    def all_records(self, folder: Path, who: str) -> list[Path]:
        """The files that all processes write."""
        return [folder / self.record(who, part) for part in range(self.parts)]


# Kernels in the place of torch's; and kernels that are the toy device's, in processes that ask torch's for the CPU.
CPU = Library("kernels.so", (HERE / "at_all_devices.cpp",), PROCESSES, "", stock_apart=True)
TOY = Library("toy.so", (HERE / "at_the_toy.cpp",), 1, "toy_", stock_apart=False)
DEVICE = "device.so"  # the toy itself, which a process has to know before it first goes backward


def build(folder: Path, sources: Sources, library: Library, *, options: str = "") -> None:
    """Brings a library and its records in `folder` up to date. `options` are those of `in_torch.record`."""
    wanted = [str(path) for who in ("stock", "ours") for path in library.all_records(Path(), who)]
    _ninja(folder, sources, options, [library.name, *wanted])


def link(folder: Path, sources: Sources, library: Library) -> None:
    """Brings a library in `folder` up to date, without records."""
    _ninja(folder, sources, "", [library.name])


def _ninja(folder: Path, sources: Sources, options: str, wanted: list[str]) -> None:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, paths in _units(sources).items():
            write(folder / f"{name}.cpp", including(paths))
        text = "\n".join(_lines(sources, options))
        (folder / "build.ninja").write_text(text)
        command = ["ninja", "-C", str(folder), f"-j{PROCESSES}", *wanted]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-20000:] + done.stderr)


def _units(sources: Sources) -> dict[str, list[Path]]:
    """What is compiled at once, by name. Each costs 3 s beside its own text, so that what is short is joined."""
    result: dict[str, list[Path]] = {}
    for path in (*sources.units, HERE / "counting.cpp"):
        alone = re.fullmatch(r"(VariableType|Functions)_\d+", path.stem)
        kind = "kernels_of_views" if path in sources.shards else "rest"
        kind = "formulas" if path.stem.endswith("_formulas") else kind
        result.setdefault(f"unit_{path.stem if alone else kind}", []).append(path)
    return result


def including(paths: Iterable[Path]) -> str:
    """A source that is these."""
    return "".join(f'#include "{path}"\n' for path in paths)


def _lines(sources: Sources, options: str) -> Iterator[str]:
    yield from _rules(sources)
    yield f"build precompiled.h.gch: header {HERE / 'precompiled.h'}"
    common = _units(sources)
    for name, paths in common.items():
        yield f"build {name}.o: object {name}.cpp | precompiled.h.gch"
        yield f"  counted = {shlex.join(_INCLUDED) if paths[0] in sources.shards else ''}"
    for path in (*CPU.units, *TOY.units, *_DEVICE_UNITS):
        yield f"build {path.stem}.o: object {path} | precompiled.h.gch"
    objects = " ".join(f"{name}.o" for name in common)
    yield f"build {DEVICE}: link {' '.join(f'{path.stem}.o' for path in _DEVICE_UNITS)}"
    for library in (CPU, TOY):
        yield f"build {library.name}: link {objects} {' '.join(f'{path.stem}.o' for path in library.units)}"
        for part in range(library.parts):
            yield from _recording(library, part, f"--part {part} --of {library.parts} {options}")
    yield ""


def _recording(library: Library, part: int, words: str) -> Iterator[str]:
    ours, stock = (library.record(who, part) for who in ("ours", "stock"))
    needed = " ".join(map(str, RECORDING))
    both = f" | {stock}" if not library.stock_apart else ""
    device = "" if library.stock_apart else DEVICE
    yield f"build {ours}{both}: record | {library.name} {device} {needed}"
    yield f"  words = {words} --library {library.name} {f'--device {device} --stock {stock}' if both else ''}"
    if library.stock_apart:
        yield f"build {stock}: record | {needed}"
        yield f"  words = {words}"


def module_command(name: str) -> list[str]:
    """The command that runs a module of this package, in whatever folder."""
    return ["env", "PYTHONHASHSEED=0", f"PYTHONPATH={HERE.parent}", sys.executable, "-m", f"in_torch.{name}"]


def unit_command(sources: Sources) -> list[str]:
    """The command that compiles a file of kernels, in the folder of the precompiled header."""
    return ["c++", *_flags(sources), "-Winvalid-pch", "-include", "precompiled.h", *_INCLUDED, "-c"]


def _flags(sources: Sources) -> list[str]:
    return [*compile_flags(*sources.include, HERE), *hasty_flags(), "-DNDEBUG"]


def _rules(sources: Sources) -> Iterator[str]:
    yield f"# torch {metadata.version('torch')}"
    yield f"cxx = c++ {shlex.join(_flags(sources))}"
    yield "counted ="
    yield "rule header"
    yield "  command = $cxx -x c++-header $in -o $out -MMD -MF $out.d"
    yield "  depfile = $out.d"
    yield "rule object"
    yield "  command = $cxx -Winvalid-pch -include precompiled.h $counted -c $in -o $out -MMD -MF $out.d"
    yield "  depfile = $out.d"
    yield "  deps = gcc"
    yield "rule link"
    yield f"  command = c++ $in -o $out -Wl,-z,defs {shlex.join(link_flags())}"
    yield "rule record"
    yield f"  command = {shlex.join(module_command('record'))} --out $out $words"
