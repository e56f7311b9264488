"""Saved while a run goes on: along a chain of edits, spec files that change at random moments of runs.

    python -m tests.campaigns races [--count N] [--seed N] [--minutes M]

What a run sees is what was there when it began: its output is that of one state of the files. The run after it equals a
clean one, and so does the one after going back: nothing may be remembered under a key that it was not made from. Some
edits are taken back while the same run still goes on. When gradmill's own code changes: session/test_own_code.py.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from project import ROOT, elsewhere, finish

from .campaign import options, run
from .chains import Chain
from .runs import Made, difference
from .specset import Specs

SAMPLE = 100


class Raced(Chain):
    """A chain of edits, before each of whose runs another one meets an edit."""

    def _disturb(self, kind: str, variables: Mapping[str, object], clean: Made) -> tuple[str, str]:
        random, first = self._random, self._specs
        kind = self._edited()
        second = self._specs
        process = elsewhere("-m", "gradmill", *self._place.words(variables), cwd=ROOT)
        time.sleep(random.uniform(0.02, 0.7))
        second.write(self._folder)
        if random.random() < 0.4:  # back in the same run
            time.sleep(random.uniform(0.005, 0.3))
            first.write(self._folder)
            kind += ", back"
        raced = self._place.made(finish(process), variables)
        states = [clean, *(self._clean_run(specs, variables) for specs in _states(first, second))]
        differences = [difference(raced, state, self._files) for state in states]
        wrong = "" if "" in differences else f"the output of no state: {' | '.join(differences)}"
        second.write(self._folder)
        wrong = wrong or difference(self._run(self._place, variables), states[-1], raced.files)
        self._files = self._place.files()
        self._specs = first
        first.write(self._folder)
        return kind, wrong

    def _clean_run(self, specs: Specs, variables: Mapping[str, object]) -> Made:
        specs.write(self._folder)
        self._clean_place.remove()
        return self._run(self._clean_place, variables)


def _states(first: Specs, second: Specs) -> Iterator[Specs]:
    """What a run may have met if an edit changed several files: some of them as they were; then the edited set."""
    for name in first.entries:
        mixed = Specs(second.heads, {**second.entries, name: first.entries[name]})
        if mixed.texts() not in (first.texts(), second.texts()):
            yield mixed
    yield second


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, SAMPLE).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Raced(Path(name), Random(wanted.seed)).steps(), wanted)
