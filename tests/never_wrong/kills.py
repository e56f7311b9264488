"""Killed anywhere: along a chain of edits, runs that get SIGKILL at random moments, cold and incremental. What they
leave is whole, and the next run equals a clean one.

python -m tests.campaigns kills [--count N] [--seed N] [--minutes M]
"""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from project import ROOT, elsewhere, finish

from .campaign import options, run
from .chains import Chain
from .runs import Made, Place, half_written

KILLS = 200
STARTING = 0.3  # seconds that a process takes besides
SHARES = {"cold": 1.2, "incremental": 0.6}  # of the time that a clean run takes, in which a run is killed


class Killed(Chain):
    """A chain of edits, before each of whose runs others are killed."""

    def _run(self, place: Place, variables: Mapping[str, object]) -> Made:
        begin = time.monotonic()
        made = super()._run(place, variables)
        self._took = time.monotonic() - begin + STARTING
        return made

    def _disturb(self, kind: str, variables: Mapping[str, object], clean: Made) -> tuple[str, str]:
        random, halves, killed = self._random, "", False
        kind = random.choice(list(SHARES))
        if kind == "cold":
            shutil.rmtree(self._place.cache, ignore_errors=True)
            if random.random() < 0.5:
                shutil.rmtree(self._place.generated, ignore_errors=True)
                self._files = {}
        while not halves:
            process = elsewhere("-m", "gradmill", *self._place.words(variables), cwd=ROOT)
            time.sleep(random.uniform(0.05, SHARES[kind] * self._took))
            process.kill()
            killed |= finish(process).status == -signal.SIGKILL
            made = {name: data for name, data in self._place.files().items() if name.endswith((".h", ".cpp"))}
            halves = half_written(made, (self._files, clean.files))
            if random.random() < 0.7:  # else once more, before it could recover
                break
        return f"{kind}{'' if killed else ', over before'}", halves


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, KILLS).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Killed(Path(name), Random(wanted.seed)).steps(), wanted)
