"""Incremental equals clean: every derivative entry of the installed torch, and 300 functions, edited in turn.

    python -m tests.campaigns sweep [--count N] [--seed N] [--minutes M] [--processes P]

After every edit a build that is kept up to date is compared with one that knows nothing: the generated files, the
manifest, and, where the edit is refused, what is reported. Edits pile up for a few steps, then the set goes back
to what it was. Every so often a real `doit` with a cache of its own follows too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple

from project import files_in

from . import TESTS
from .builds import Kept, Result, clean_build, differing
from .campaign import Trial, options, run
from .edits import edit
from .specset import DERIVATIVES, NATIVE, Specs, make_folder, read_specs, torch_folder, torch_version

FUNCTIONS = 300  # native functions of the whole sweep, beside all derivative entries
CHAIN = 4  # edits that pile up before the set goes back to what it was
DOIT_EVERY = 25  # how often a doit process follows the edits


class Target(NamedTuple):
    """An entry to edit, and the seed of the edit."""

    name: str
    at: int
    seed: str


def targets(specs: Specs, seed: int, sample: int | None) -> list[Target]:
    """The entries to edit in a random order: all derivatives and some functions, or a sample of those."""
    random = Random(seed)
    functions = random.sample(range(len(specs.native)), min(FUNCTIONS, len(specs.native)))
    result = [(DERIVATIVES, at) for at in range(len(specs.derivatives))] + [(NATIVE, at) for at in functions]
    random.shuffle(result)
    return [Target(name, at, f"{seed}/{name}/{at}") for name, at in result[:sample]]


class Sweep:
    """One spec folder, the builds that follow its edits, and scratch folders for clean builds."""

    def __init__(self, folder: Path, doit_every: int = DOIT_EVERY) -> None:
        self._base = read_specs(torch_folder())
        self._folder = folder
        self._specs = make_folder(folder / "set", torch_folder(), torch_version())
        self._doit_every = doit_every
        self._base.write(self._specs)
        self._kept = Kept(self._specs, folder / "kept")
        first = self._kept.update()
        assert first.accepted, first.crash or first.refusal
        self._before = first

    def steps(self, wanted: Iterable[Target]) -> Iterator[Trial]:
        """Makes the edits one after another."""
        specs = self._base.copy()
        for count, target in enumerate(wanted, start=1):
            if count % CHAIN == 0:
                specs = self._base.copy()
            random = Random(target.seed)
            edited = specs.copy()
            entries = edited.entries[target.name]
            kind = edit(edited, target.name, min(target.at, len(entries) - 1), random)
            edited.write(self._specs)
            if random.random() < 0.4:
                self._kept.reopen()
            update = self._kept.update()
            clean = clean_build(self._specs, self._folder / "clean")
            wrong = self._compare(update, clean)
            if not wrong and count % self._doit_every == 0:
                wrong = self._doit(clean)
            if clean.accepted:
                specs = edited
                self._before = clean
            yield Trial(kind, wrong, target.seed, "accepted" if clean.accepted else "refused")
            if wrong:  # start again, or one error is reported again and again
                shutil.rmtree(self._folder / "kept")
                specs = self._base.copy()
                specs.write(self._specs)
                self._kept = Kept(self._specs, self._folder / "kept")
                self._before = self._kept.update()

    def _compare(self, result: Result, clean: Result) -> str:
        if result.crash or clean.crash:
            return f"gradmill broke: {(result.crash or clean.crash)[-1000:]}"
        if result.accepted != clean.accepted:
            how = "incrementally" if result.accepted else "clean"
            return f"accepted {how} only: {(result.refusal or clean.refusal)[:500]}"
        if not clean.accepted:
            if result.refusal != clean.refusal:
                return f"refused with another text:\n{result.refusal[:500]}\nclean:\n{clean.refusal[:500]}"
            if clean.files:
                return "a refused set left files"
            moved = [n for n in {**result.files, **self._before.files} if n != "manifest.json"]
            return (
                "" if all(result.files.get(n) == self._before.files.get(n) for n in moved) else "a refusal wrote files"
            )
        unequal = differing(result, clean)
        return f"files differ: {', '.join(unequal)}" if unequal else ""

    def _doit(self, clean: Result) -> str:
        """Runs doit, which has a cache of its own, and compares."""
        folder = self._folder / "doit"
        variables = [f"specs={self._specs}", f"generated={folder / 'generated'}", f"cache={folder / 'cache'}"]
        command = [sys.executable, "-m", "doit", *variables]
        done = subprocess.run(command, cwd=Path(TESTS).parent, capture_output=True, text=True, check=False)
        if "Traceback" in done.stderr + done.stdout:
            return f"doit broke: {done.stderr[-1000:]}"
        if (done.returncode == 0) != clean.accepted:
            return f"doit ended with {done.returncode}: {done.stderr[:500]}"
        if not clean.accepted:
            return "" if done.stderr.endswith(clean.refusal) else f"doit said something else:\n{done.stderr[:500]}"
        made = files_in(folder / "generated")
        unequal = [n for n in {*made, *clean.files} - {"manifest.json"} if made.get(n) != clean.files.get(n)]
        return f"doit's files differ: {', '.join(sorted(unequal))}" if unequal else ""


def _sweep_part(wanted: list[Target]) -> list[Trial]:
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return list(Sweep(Path(name)).steps(wanted))


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("--processes", type=int, default=2, metavar="P")
    wanted = parser.parse_args(words)
    edits = targets(read_specs(torch_folder()), wanted.seed, wanted.count)
    parts = [edits[start : start + 50] for start in range(0, len(edits), 50)]
    with get_context("spawn").Pool(wanted.processes, maxtasksperchild=1) as pool:
        return run(chain.from_iterable(pool.imap_unordered(_sweep_part, parts)), wanted)
