"""Killed anywhere: runs that get SIGKILL at random moments, cold and incremental. The next run must equal a clean one.

python -m tests.campaigns kills [--count N] [--seed N] [--minutes M]
"""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from project import CORE, Project, finish

from .builds import Result, clean_build
from .campaign import Trial, options, run
from .edits import edit
from .specset import DERIVATIVES, NATIVE, Specs, read_specs

KILLS = 200
VERSION = (CORE / "RELEASE").read_text().strip()


class Killer:
    """A project whose runs are killed. Edits are of the kinds that chains have."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._random = random
        self._folder = folder
        self._project = Project(folder, CORE, VERSION, kernels=True)
        self._base = read_specs(CORE)
        self._took = {"cold": self._time(), "incremental": self._time()}

    def _time(self) -> float:
        start = time.monotonic()
        self._project.build()
        return time.monotonic() - start

    def kills(self) -> Iterator[Trial]:
        """Kills without end. A run that was over before its signal came counts for nothing."""
        while True:
            what = self._random.choice(["cold", "incremental"])
            before, after = self._change(what)
            seconds = self._random.uniform(0.05, self._took[what] * 1.1)
            killed = self._kill(seconds)
            halves = self._half_written(before, after)
            if self._random.random() < 0.3:  # once more, before it could recover
                self._kill(self._random.uniform(0.05, self._took[what]))
                halves = halves or self._half_written(before, after)
            if killed:
                yield Trial(what, halves or self._recover(after), f"after {seconds:.3f} s")

    def _change(self, what: str) -> tuple[Result, Result]:
        """Prepares a cold run, or edits; gives what stood there before and what must stand there in the end."""
        before = Result(self._project.files())
        if what == "cold":
            shutil.rmtree(self._project.cache, ignore_errors=True)
            if self._random.random() < 0.5:
                shutil.rmtree(self._project.generated, ignore_errors=True)
        while True:
            self._edited().write(self._project.specs)
            after = clean_build(self._project.specs, self._folder / "clean")
            if after.accepted:
                return before, after

    def _edited(self) -> Specs:
        specs = self._base.copy()
        for _ in range(self._random.randint(1, 4)):
            name = self._random.choice([DERIVATIVES, DERIVATIVES, NATIVE])
            edit(specs, name, self._random.randrange(len(specs.entries[name])), self._random)
        return specs

    def _kill(self, seconds: float) -> bool:
        process = self._project.start()
        time.sleep(seconds)
        process.kill()
        return finish(process).status == -signal.SIGKILL

    def _half_written(self, before: Result, after: Result) -> str:
        result = {n: d for n, d in self._project.files().items() if n.endswith((".h", ".cpp"))}
        halves = [n for n, data in result.items() if data not in (before.files.get(n), after.files.get(n))]
        return f"half-written: {', '.join(halves)}" if halves else ""

    def _recover(self, after: Result) -> str:
        run = self._project.run()
        if run.status or "Traceback" in run.stderr:
            return f"the next run ended with {run.status}: {run.stderr[:500]}"
        made = {**self._project.files(), "manifest.json": self._manifest()}
        unequal = sorted(n for n in {*made, *after.files} if made.get(n) != after.files.get(n))
        if unequal:
            return f"files differ: {', '.join(unequal)}"
        again = self._project.run()
        return f"a third run had work: {', '.join(again.ran)}" if again.ran else ""

    def _manifest(self) -> bytes:
        return self._project.manifest()


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, KILLS).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Killer(Path(name), Random(wanted.seed)).kills(), wanted)
