"""An edit through a persistent worker, and without one: the processor time of gradmill, and the size of a worker.

`python -m bench.worker`. Each round makes a new edit of a formula of torch's specs, and three programs generate the
same files from it: a worker that has answered before, `gradmill` with its cache, and an action alone, which has none.
Their files must be equal after each.
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
from collections.abc import Callable
from pathlib import Path

from bench.edits import formula
from bench.specs import make

_TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """A worker for actions in `place`."""

    def __init__(self, place: Path) -> None:
        words = [sys.executable, "-m", "gradmill", "worker", "--persistent_worker"]
        self._process = subprocess.Popen(words, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, arguments: list[str]) -> float:
        """The seconds of an action."""
        before = self.seconds
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"arguments": arguments}).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert not answer["exitCode"], answer["output"]
        return self.seconds - before

    @property
    def seconds(self) -> float:
        """The processor time so far."""
        text = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(text[11]) + int(text[12])) / _TICKS

    @property
    def megabytes(self) -> float:
        """The resident memory."""
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1000

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def process(place: Path, words: list[str]) -> float:
    """The seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "gradmill", *words], cwd=place, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="edits")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.runs)


def measure(place: Path, runs: int) -> None:
    specs = make(place / "torch", 1)
    texts = specs.texts()
    common = ["specs=./torch", "layout=split", "families=nodes"]
    worker = Worker(place)
    programs: dict[str, Callable[[list[str]], float]] = {
        "worker": worker.run,
        "gradmill": lambda words: process(place, [*words, "cache=cache"]),
        "alone": lambda words: process(place, ["worker", _flags(place, words)]),
    }
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(2, runs + 3):
        specs.write(formula(texts, number))
        files = []
        for name, run in programs.items():
            shutil.rmtree(place / name, ignore_errors=True)  # as Bazel deletes outputs
            taken[name].append(run([*common, f"generated={name}"]))
            files.append({path.name: path.read_bytes() for path in (place / name).glob("*.cpp")})
        assert files[0] == files[1] == files[2]
    for name, seconds in taken.items():
        first, *rest = seconds
        print(f"{name:9} first {first:.2f} s   edit {statistics.median(rest):.2f} s  ({min(rest):.2f}-{max(rest):.2f})")
    print(f"the worker's memory: {worker.megabytes:.0f} MB")
    worker.end()


def _flags(place: Path, words: list[str]) -> str:
    (place / "flags").write_text("\n".join(words))
    return "@flags"


if __name__ == "__main__":
    main()
