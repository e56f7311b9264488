"""How the library is compiled, and what runs when it is there and before: a Ninja file of all, in a kept folder."""

from __future__ import annotations

import fcntl
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from cpp.toolchain import compile_flags, link_flags

from in_torch.sources import Sources

HERE = Path(__file__).parent
NAME = "kernels.so"
PARTS = 4  # of the calls: each is made by a process of its own
PROCESSES = 2
_RECORDING = [
    *(HERE / f"{name}.py" for name in ("record", "calls", "samples", "own_cases", "more_cases", "kernels")),
    HERE.parent / "cpp" / "cases.py",
]


def build(folder: Path, sources: Sources, *, parts: int = PARTS, options: str = "") -> None:
    """Brings the library and all records in `folder` up to date. `options` are those of `in_torch.record`."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = "\n".join(_lines(sources, parts, options))
        (folder / "build.ninja").write_text(text)
        done = subprocess.run(
            ["ninja", "-C", str(folder), f"-j{PROCESSES}"], check=False, capture_output=True, text=True
        )
    if done.returncode:
        raise SystemExit(done.stdout[-20000:] + done.stderr)


def records(folder: Path, who: str, parts: int = PARTS) -> list[Path]:
    """The files that the processes write: `who` is ours or stock."""
    return [folder / f"{who}_{part}.record" for part in range(parts)]


def _lines(sources: Sources, parts: int, options: str) -> Iterator[str]:
    yield from _rules(sources)
    for who, loads in (("stock", ""), ("ours", NAME)):
        for part, path in enumerate(records(Path(), who, parts)):
            yield f"build {path}: record | {loads} {' '.join(map(str, _RECORDING))}"
            yield f"  words = --part {part} --of {parts} {options} {'--library ' + NAME if loads else ''}"
    yield f"build precompiled.h.gch: header {HERE / 'precompiled.h'}"
    units = [*sources.units, HERE / "counting.cpp"]
    for path in units:
        yield f"build {path.stem}.o: object {path} | precompiled.h.gch"
        yield f"  counted = {'-include counting.h' if path in sources.shards else ''}"
    objects = " ".join(f"{path.stem}.o" for path in units)
    if sources.stand_ins:
        yield f"build stand_ins.cpp: stand_ins {objects}"
        yield "build stand_ins.o: object stand_ins.cpp | precompiled.h.gch"
        objects += " stand_ins.o"
    yield f"build {NAME}: link {objects}"
    yield ""


def module_command(name: str) -> list[str]:
    """The command that runs a module of this package, in whatever folder."""
    return ["env", "PYTHONHASHSEED=0", f"PYTHONPATH={HERE.parent}", sys.executable, "-m", f"in_torch.{name}"]


def unit_command(sources: Sources) -> list[str]:
    """The command that compiles a file of kernels, in the folder of the precompiled header."""
    included = ["-include", "precompiled.h", "-include", "counting.h"]
    return ["c++", *_flags(sources), "-Winvalid-pch", *included, "-c"]


def _flags(sources: Sources) -> list[str]:
    return [*compile_flags(*sources.include, HERE), "-DNDEBUG"]


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
    yield "rule stand_ins"
    yield f"  command = {shlex.join(module_command('stand_ins'))} --out $out $in"
