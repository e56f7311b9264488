"""Compiles every generated file of the split layout against torch's headers: `python tests/compile_all.py`.

By default for the installed torch's own specs, all shards and the python_functions files, with -O2 and -Wall. Prints a
row for each file: seconds of processor time, peak memory, warnings in generated text, warnings in torch's headers.
Ends with status 1 if a file does not compile, or warns in generated text.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cpp import toolchain
from project import CORE, ROOT

# Where torch's own headers include the release's Functions.h from.
PLACE = Path("torch/csrc/autograd/generated")
# What every shard of the real specs includes. Not FunctionsManual.h: it includes Functions.h, which is generated.
PRECOMPILED = """\
#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>
#include <ATen/core/functional.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
"""

_WARNING = re.compile(r"^(\S+?):\d+:\d+: warning: (.*)$", re.MULTILINE)
_MIB = 1 << 20


class Compiled(NamedTuple):
    """What the compilation of one file came to."""

    name: str
    status: int
    seconds: float  # of processor time
    peak: int  # bytes
    ours: list[str]  # warnings in generated text
    others: int  # warnings in other headers
    output: str


class Sources:
    """The generated files of a spec set, where torch's headers find them."""

    def __init__(self, folder: Path, specs: str, shards: int) -> None:
        self.folder = folder
        self.generated = folder / PLACE
        words = [f"specs={specs}", f"shards={shards}", f"generated={self.generated}", f"cache={folder / 'cache'}"]
        run = [sys.executable, "-m", "doit", "layout=split", "families=nodes,factories", *words]
        subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        self._core = specs == "core"

    def files(self) -> list[Path]:
        """What is to be compiled. Of the Python bindings the five shards: `Everything` repeats them."""
        paths = self.generated.glob("*.cpp")
        return sorted((p for p in paths if "Everything" not in p.name), key=lambda p: (len(p.name), p.name))

    def flags(self, optimize: str) -> list[str]:
        own = (self.generated, CORE / "templates") if self._core else (self.folder,)
        return toolchain.compile_flags(*own, optimize=optimize)

    def precompile(self, optimize: str) -> tuple[list[str], Compiled]:
        """A precompiled header, and the flags that use it."""
        header = self.folder / "precompiled.h"
        header.write_text(PRECOMPILED)
        command = ["c++", *self.flags(optimize), "-x", "c++-header", str(header), "-o", f"{header}.gch"]
        return ["-Winvalid-pch", "-include", str(header)], _measured("precompiled.h", command, self.generated)

    def compile(self, path: Path, optimize: str, more: Sequence[str] = ()) -> Compiled:
        target = str(self.folder / f"{path.stem}.o")
        command = ["c++", *self.flags(optimize), "-Wall", *more, "-c", str(path), "-o", target]
        return _measured(path.name, command, self.generated)


def _measured(name: str, command: list[str], generated: Path) -> Compiled:
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        output = log.read()
    matches = _WARNING.findall(output)
    ours = [text for place, text in matches if Path(place).resolve().is_relative_to(generated.resolve())]
    seconds = usage.ru_utime + usage.ru_stime
    return Compiled(name, process.returncode, seconds, usage.ru_maxrss * 1024, ours, len(matches) - len(ours), output)


def main() -> int:
    options = _options()
    if reason := toolchain.missing():
        raise SystemExit(reason)
    options.folder.mkdir(parents=True, exist_ok=True)
    sources = Sources(options.folder, options.specs, options.shards)
    start = time.perf_counter()
    rows: list[Compiled] = []
    more: list[str] = []
    if options.precompiled:
        more, row = sources.precompile(options.optimize)
        rows.append(_printed(row))
    for path in sources.files():
        if not options.only or path.stem in options.only:
            rows.append(_printed(sources.compile(path, options.optimize, more)))
    failed = [row for row in rows if row.status or row.ours]
    total = sum(row.seconds for row in rows)
    print(f"{len(rows)} files, {total:.0f} s of processor time, {time.perf_counter() - start:.0f} s")
    for row in failed:
        print(row.output[-4000:], file=sys.stderr)
    return bool(failed)


def _printed(row: Compiled) -> Compiled:
    state = "" if row.status == 0 else "  does not compile"
    numbers = f"{row.seconds:6.1f} s  {row.peak / _MIB:6.0f} MiB"
    print(f"{row.name:28} {numbers}  {len(row.ours)} warnings, {row.others} in torch's headers{state}", flush=True)
    return row


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", default="torch", help="spec set (torch)")
    parser.add_argument("--shards", type=int, default=16, help="shards (16)")
    parser.add_argument("--optimize", default="-O2", help="level of optimization (-O2)")
    parser.add_argument("--only", nargs="+", help="names of files, without extension")
    parser.add_argument("--precompiled", action="store_true", help="precompile torch's headers first")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "compile_all", help="where to work")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
