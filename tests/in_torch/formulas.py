"""torch's own formulas with slim headers, in torch: `python -m tests.in_torch.formulas`.

All formulas of the installed torch are compiled with the headers of `examples/slim`, in 64 sources, and become one
library with what calls them. A process that loads it before libtorch has them in place of libtorch's, because libtorch
exports the Nodes' `apply`. What torch's samples of its operators give there, gradients above all, is compared with what
they give in a process without.
"""

from __future__ import annotations

import argparse
import fcntl
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cpp.toolchain import compile_flags, hasty_flags, link_flags, torch_folder
from project import ROOT

from examples.slim import slim
from in_torch import differences, report, sources
from in_torch.frames import NODES, frames, nodes
from in_torch.library import HERE, PROCESSES, RECORDING, module_command

SHARDS = 64
_LIBRARY = "formulas.so"
_RULES = """\
cxx = {compiler}
rule slim
  command = {launcher} $cxx -c $in -o $out > $out.needs
rule slim_header
  command = {launcher} $cxx -x c++-header $in -o $out
rule object
  command = $cxx -c $in -o $out
rule hidden
  command = {hidden} --out $out $in
rule link
  command = c++ $in -o $out {link}
rule record
  command = $preload {record} --quick --out $out $words
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.in_torch.formulas", description=__doc__)
    parser.add_argument("--samples", type=int, default=1, help="samples of an operator (1)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "in_torch_formulas", help="kept for next time")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        frame_files = _prepare(folder, options.samples)
        command = ["ninja", "-C", str(folder), f"-j{PROCESSES}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-20000:] + done.stderr)
    return _report(folder, frame_files)


def _report(folder: Path, frame_files: list[Path]) -> int:
    """Prints all, and gives the exit status. Each source must have a Node that ran."""
    needy = [text for path in sorted(folder.glob("*.needs")) if (text := path.read_text())]
    print("".join(needy), end="")
    ours, stock = (differences.load(_records(folder, who)) for who in ("ours", "stock"))
    ran = {node for family, node in ours[""]["ran"] if family == NODES}
    in_sources = {path.stem: nodes(path) for path in frame_files}
    idle = [name for name, own in in_sources.items() if ran.isdisjoint(own)]
    report.row("sources of formulas that compiled with slim headers", SHARDS - len(needy), SHARDS)
    report.row("sources with a Node that ran", SHARDS - len(idle), SHARDS)
    report.row("Nodes that ran", len(ran), sum(map(len, in_sources.values())))
    compared = differences.compare(ours, stock, {})
    report.answers(compared, compared.different)
    for name in idle:
        print(f"no Node of {name} ran")
    return int(bool(idle or compared.different))


def _records(folder: Path, who: str) -> list[Path]:
    return [folder / f"{who}_{part}.record" for part in range(PROCESSES)]


def _prepare(folder: Path, samples: int) -> list[Path]:
    """Writes all but what Ninja builds. Gives the sources of frames."""
    generated = sources.formulas(folder, SHARDS)
    slim.write(f"{torch_folder()}/include", str(generated), str(folder / "headers"))
    frame_files = [generated / f"Functions_{shard}.cpp" for shard in range(SHARDS)]
    sources.write(folder / "frames.cpp", frames(frame_files))
    sources.write(folder / "build.ninja", "\n".join(_ninja_lines(folder, generated, samples)))
    return frame_files


def _ninja_lines(folder: Path, generated: Path, samples: int) -> Iterator[str]:
    headers = folder / "headers"
    prelude = headers / "slim" / slim.PRELUDE
    yield _RULES.format(
        compiler=shlex.join(["c++", *compile_flags(headers), *hasty_flags()]),
        launcher=shlex.join([sys.executable, "-I", "-S", slim.__file__, "compile", str(headers), str(prelude)]),
        hidden=shlex.join(module_command("hidden")),
        link=f"-Wl,-z,defs {shlex.join([*link_flags(), '-ldl'])}",
        record=shlex.join(module_command("record")),
    )
    yield f"build {prelude}.gch: slim_header {prelude}"
    for shard in range(SHARDS):
        yield f"build formulas_{shard}.o: slim {generated}/Functions_{shard}_formulas.cpp | {prelude}.gch"
    formulas = " ".join(f"formulas_{shard}.o" for shard in range(SHARDS))
    yield "build frames.o: object frames.cpp"
    yield f"build counting.o: object {HERE / 'counting.cpp'}"
    yield f"build hidden.cpp: hidden {formulas} frames.o | {HERE / 'hidden.py'}"
    yield "build hidden.o: object hidden.cpp"
    yield f"build {_LIBRARY}: link {formulas} frames.o counting.o hidden.o"
    for part in range(PROCESSES):
        needed = " ".join(map(str, RECORDING))
        words = f"--samples {samples} --part {part} --of {PROCESSES}"
        yield f"build stock_{part}.record: record | {needed}"
        yield f"  words = {words}"
        yield f"build ours_{part}.record: record | {_LIBRARY} {needed}"
        yield f"  words = {words} --library {_LIBRARY}"
        yield f"  preload = LD_PRELOAD={folder / _LIBRARY}"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
