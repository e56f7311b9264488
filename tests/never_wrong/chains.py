"""Incremental equals clean, on one cache, along a chain of edits that is never reset.

    python -m tests.campaigns chains [--set core|tiny|torch|layers|toy] [--count N] [--seed N] [--minutes M]

Edits of all kinds pile up on the embedded set or a few operators of it, on that of the installed torch, or on a
described one: that of tests/vendors or examples/vendor, over a small base. Releases, layouts, numbers of shards and
`strict` change on the way, and now and then the set goes back to what it was some edits ago, as another branch is
checked out. After each edit a run is compared with one that knows nothing: generated files, manifest, exit status,
report. A second run must find nothing to do.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from project import CORE

from gradmill.releases import KNOWN

from . import described
from .campaign import Trial, options, run
from .edits import edit
from .runs import Made, Place, difference
from .specset import Specs, make_folder, make_tiny, read_specs, torch_folder, torch_version

EDITS = 1000
BACK = 12  # how many states of the set one may go back to
TAKEN_BACK = "taken back"
PATIENCE = 3  # refused edits in a row, after which the last of them are taken back


class State(NamedTuple):
    """A set that was accepted, and how it was then read: not every release has what an edit uses."""

    specs: Specs | described.Files
    variables: dict[str, object]


class Chain:
    """A set, its one cache, and a folder for clean runs."""

    def __init__(self, folder: Path, random: Random, name: str = "core") -> None:
        self._random = random
        self._folder = folder / "set"
        self._place, self._clean_place = Place(folder), Place(folder / "clean")
        self._releases = {**described.RELEASES, "torch": (torch_version().partition("+")[0],)}.get(name, KNOWN)
        self._specs: Specs | described.Files
        if name in described.RELEASES:
            self._specs = described.begin(name, folder)
        else:
            if name == "tiny":
                make_tiny(self._folder)
            else:
                make_folder(self._folder, CORE if name == "core" else torch_folder(), "")
            (self._folder / "RELEASE").unlink()  # a variable names it
            self._specs = read_specs({"core": CORE, "tiny": self._folder}.get(name) or torch_folder())
        self._refused = 0
        self._variables: dict[str, object] = {
            "release": self._releases[-1],
            "layout": "upstream",
            "shards": 16,
            "strict": 0,
        }
        self._states: deque[State] = deque([self._state()], maxlen=BACK)  # those that were accepted
        self._files: dict[str, bytes] = {}

    def _state(self) -> State:
        return State(self._specs, dict(self._variables))

    def steps(self) -> Iterator[Trial]:
        """Makes edits without end."""
        for number in count(1):
            kind = self._edit()
            if kind != TAKEN_BACK:
                self._turn()
            self._specs.write(self._folder)
            variables = {"specs": self._folder, **self._variables}
            self._clean_place.remove()
            clean = self._run(self._clean_place, variables)
            kind, wrong = self._disturb(kind, variables, clean)
            before, self._files = self._files, {}
            result = self._run(self._place, variables)
            wrong = wrong or difference(result, clean, before) or self._again(variables, result)
            self._files = result.files
            if clean.run.status == 0:
                self._states.append(self._state())
            self._refused = 0 if clean.run.status == 0 else self._refused + 1
            message = " ".join(f"{name}={value}" for name, value in self._variables.items())
            also = "refused" if clean.run.status else "accepted"
            yield Trial(kind, wrong, f"edit {number}, {message}", also)
            if wrong:  # start again, or one error is reported again and again
                self._place.remove()
                self._files = {}

    def _run(self, place: Place, variables: Mapping[str, object]) -> Made:
        """A run of the set as it is now."""
        return place.run(**variables)

    def _disturb(self, kind: str, variables: Mapping[str, object], clean: Made) -> tuple[str, str]:
        """What else happens between an edit and the next run: the row of the table that counts the step, and what is
        wrong already."""
        return kind, ""

    def _again(self, variables: Mapping[str, object], first: Made) -> str:
        """What a second run did, which should be nothing."""
        times = self._times()
        again = self._run(self._place, variables).run
        if again.status == 0 and again.ran:
            return f"a second run had work: {', '.join(again.ran[:5])}"
        if (again.status, again.stderr) != (first.run.status, first.run.stderr):
            return f"a second run ended otherwise: {again.status} {again.stderr[-800:]}"
        return "a second run wrote files" if self._times() != times else ""

    def _times(self) -> dict[str, int]:
        result = (path for path in self._place.generated.rglob("*") if path.is_file())
        return {path.name: path.stat().st_mtime_ns for path in result}

    def _edit(self) -> str:
        random = self._random
        if self._refused > PATIENCE or (self._refused and random.random() < 0.5):
            self._specs, self._variables = self._states[-1].specs, dict(self._states[-1].variables)
            return TAKEN_BACK
        if random.random() < 0.08:
            self._specs = random.choice(self._states).specs
            return "earlier state"
        return self._edited()

    def _edited(self) -> str:
        """One edit more; of which kind it is."""
        random = self._random
        self._specs = edited = self._specs.copy()
        if isinstance(edited, described.Files):
            return described.edit(edited, random)
        return edit(edited, random)

    def _turn(self) -> None:
        """Changes how the set is read, now and then."""
        random = self._random
        if random.random() < 0.2:
            self._variables["release"] = random.choice([self._releases[-1], random.choice(self._releases)])
        if random.random() < 0.2:
            self._variables["layout"] = random.choice(["upstream", "split"])
        if random.random() < 0.15:
            self._variables["shards"] = random.choice([1, 2, 5, 16])
        if random.random() < 0.15:
            self._variables["strict"] = random.randint(0, 1)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, EDITS)
    parser.add_argument("--set", default="core", choices=("core", "tiny", "torch", "layers", "toy"))
    wanted = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Chain(Path(name), Random(wanted.seed), wanted.set).steps(), wanted)
