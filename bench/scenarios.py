"""The scenarios, and the runs of both programs in them on one spec set."""

from __future__ import annotations

import filecmp
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, NamedTuple

from bench import edits
from bench.measure import Sample, measure
from bench.specs import ATEN, SpecFolder, make, make_checkout

ROOT = Path(__file__).resolve().parent.parent
GRADMILL = "gradmill"
TORCHGEN = "torchgen"
PROGRAMS = (GRADMILL, TORCHGEN)

# The commands that start gradmill: doit in a clone, which has a dodo.py, or the script that the package installs.
COMMANDS = {
    "doit": [sys.executable, "-m", "doit"],
    "gradmill": [str(Path(sys.executable).with_name("gradmill"))],
}

# A file that is written and read within one tick of the file system's clock is read again by the next run.
# Users are slower than that.
_PAUSE = 0.05
# ext4 looks for new inodes beyond those that were freed in the last five seconds: right after thousands of files are
# deleted, creating as many takes seconds, which no build from nothing pays.
_PAUSE_AFTER_DELETION = 6.0


class Scenario(NamedTuple):
    """A measured situation. `target` and `aim`: the factors by which gradmill should be faster than torchgen."""

    name: str
    title: str
    target: float | None = None
    aim: float | None = None
    edit: Callable[[edits.Texts, int], edits.Texts] | None = None
    cold: bool = False  # from nothing
    seen: bool = False  # the edit was built before, and the way back is measured, too
    restored: bool = False  # gradmill starts with a copy of the cache, as CI keeps it


SCENARIOS = (
    Scenario("cold", "cold build", 2.5, 4, cold=True),
    Scenario("restored", "first run with a restored cache", cold=True, restored=True),
    Scenario("nothing", "nothing to do", 15, 25),
    Scenario("formula", "one formula edit", 10, 20, edits.formula),
    Scenario("elementwise", "one that kernels print", edit=edits.elementwise),
    Scenario("schema", "one schema edit", 6, 12, edits.schema),
    Scenario("comment", "one comment edit", edit=edits.comment),
    Scenario("switch", "to another spec set, and back", edit=edits.other_set, seen=True),
)

# Of the command that takes the place of PyTorch's script, with all that it writes.
OF_SCRIPT = (
    Scenario("script-cold", "into an empty tree", cold=True),
    Scenario("script-nothing", "nothing to do"),
    Scenario("script-formula", "one formula edit", edit=edits.formula),
    Scenario("script-default", "a default in a schema", edit=edits.default),
    Scenario("script-operator", "a new operator", edit=edits.operator),
)
# Of everything that PyTorch generates at once: its script's files and those of torchgen.gen.
OF_EVERYTHING = (
    Scenario("all-cold", "cold build", 2, 4, cold=True),
    Scenario("all-nothing", "nothing to do", 150, 300),
    Scenario("all-formula", "one formula edit", 60, 100, edits.formula),
    Scenario("all-default", "a default in a schema", 30, 60, edits.default),
    Scenario("all-operator", "a new operator", 20, 40, edits.operator),
    Scenario("all-comment", "one comment edit", edit=edits.comment),
)
ALL_SCENARIOS = SCENARIOS + OF_SCRIPT + OF_EVERYTHING


class Measured(NamedTuple):
    """One pair of measurements, one right after the other."""

    scenario: str
    scale: int
    run: int
    samples: dict[str, Sample]  # by program


class Bench:
    """A spec set of one scale, and both programs' files. `families`: the generated ones; all by default. `command`: a
    key of COMMANDS."""

    scenarios: ClassVar[tuple[Scenario, ...]] = SCENARIOS

    def __init__(self, folder: Path, scale: int, families: str = "", command: str = "doit") -> None:
        self.scale = scale
        self.families = families
        self._start = COMMANDS[command]
        self.folder = folder
        self.specs = self._make(folder / "set", scale)
        self.base = self.specs.texts()
        for scenario in self.scenarios:  # now rather than after an hour: whether this torch has what is to be edited
            if scenario.edit:
                scenario.edit(self.base, 0)
        self._spare = folder / "torchgen-base"
        self._kept = folder / "kept-cache"
        self._edits = 0

    def _make(self, folder: Path, scale: int) -> SpecFolder:
        return make(folder, scale)

    def output(self, program: str) -> Path:
        """The folder of a program's files."""
        return self.folder / program

    def warm_up(self) -> None:
        """One run of each program that does not count, so that byte code is compiled and files are in memory."""
        for program in PROGRAMS:
            self._run(program)
        self._compare("warm-up")
        shutil.copytree(self.output(TORCHGEN), self._spare)

    def prepare(self, scenario: Scenario) -> None:
        """Lets gradmill build the edited set, if the scenario is about an edit that was built before."""
        if scenario.edit and scenario.seen:
            self._write(scenario.edit(self.base, 0))
            self._run(GRADMILL)
            self._restore()
        if scenario.restored:
            shutil.copytree(self.folder / "cache", self._kept, dirs_exist_ok=True)

    def pair(self, scenario: Scenario, run: int) -> Measured:
        """Runs both programs in the situation once, in alternating order. Their files must be equal."""
        order = PROGRAMS if run % 2 == 0 else PROGRAMS[::-1]
        if scenario.cold:
            for folder in (*map(self.output, PROGRAMS), self.folder / "cache"):
                shutil.rmtree(folder)
            time.sleep(_PAUSE_AFTER_DELETION)
        if scenario.restored:
            shutil.copytree(self._kept, self.folder / "cache")
        if scenario.edit:
            self._edits += 1
            self._write(scenario.edit(self.base, self._edits))
        samples = {program: self._run(program) for program in order}
        self._compare(scenario.title)
        if scenario.seen:
            self._write(self.base)
            samples = {program: samples[program].then(self._run(program)) for program in order}
            self._compare(f"{scenario.title}, on the way back")
        elif scenario.edit:
            self._restore()
        return Measured(scenario.name, self.scale, run, samples)

    def _restore(self) -> None:
        """Restores the state before the edit for both programs; not measured."""
        self._write(self.base)
        self._run(GRADMILL)
        shutil.rmtree(self.output(TORCHGEN))  # torchgen leaves the headers of operators that are gone
        shutil.copytree(self._spare, self.output(TORCHGEN))
        self._compare("going back to the unedited set")

    def _write(self, texts: edits.Texts) -> None:
        self.specs.write(texts)
        time.sleep(_PAUSE)

    def _run(self, program: str) -> Sample:
        specs, output = self.specs.folder, self.output(program)
        if program == GRADMILL:
            places = [f"generated={output}", f"cache={self.folder / 'cache'}"]
            words = [*self._start, f"specs={specs}", *places, f"families={self.families}"]
        else:
            words = [sys.executable, "-m", "bench.torchgen_run", str(specs), str(output), self.families]
        return measure(words, ROOT, self.folder / f"{program}.log")

    def _compare(self, when: str) -> None:
        ours, theirs = (self.output(program) for program in PROGRAMS)
        names = sorted(_files_in(ours) | _files_in(theirs))
        filecmp.clear_cache()
        _, different, missing = filecmp.cmpfiles(ours, theirs, names, shallow=False)
        if different or missing:
            differences = [_difference(ours / name, theirs / name) for name in (*different, *missing)]
            raise SystemExit("\n  ".join([f"{when}: the programs' files differ", *differences]))


def _files_in(folder: Path) -> set[str]:
    """The paths of the generated files: not that of gradmill's record of them."""
    paths = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path.as_posix() for path in paths if path.parts[0] != ".gradmill"}


def _difference(ours: Path, theirs: Path) -> str:
    """The first line that differs, with the text of both programs."""
    if not (ours.exists() and theirs.exists()):
        return f"{ours.name}: only {GRADMILL if ours.exists() else TORCHGEN} writes it"
    lines = zip_longest(ours.read_text().split("\n"), theirs.read_text().split("\n"), fillvalue="(no more lines)")
    number, (our, their) = next((i, pair) for i, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return f"{ours.name}:{number}: {GRADMILL} has {our!r}, {TORCHGEN} has {their!r}"


class OfScript(Bench):
    """A checkout, and the trees that `generate-code` and the functions of PyTorch's script write."""

    scenarios = OF_SCRIPT

    def _make(self, folder: Path, scale: int) -> SpecFolder:
        return make_checkout(folder, scale)

    def _run(self, program: str) -> Sample:
        specs, output = self.specs.folder, self.output(program)
        if program == TORCHGEN:
            words = [sys.executable, "-m", "bench.torchgen_script", str(specs), str(output)]
            return measure(words, ROOT, self.folder / f"{program}.log")
        words = [*COMMANDS[GRADMILL], "generate-code", "--gen-dir", str(output), f"cache={self.folder / 'cache'}"]
        return measure(words, specs, self.folder / f"{program}.log")


class OfEverything(Bench):
    """A checkout, and all that the build of PyTorch generates from it: ATen's files, and those of the script. torchgen
    needs two processes for them."""

    scenarios = OF_EVERYTHING
    subsets = "aten,libtorch,pybindings,python,functionalization"

    def _make(self, folder: Path, scale: int) -> SpecFolder:
        return make_checkout(folder, scale)

    def _run(self, program: str) -> Sample:
        specs, output = self.specs.folder, self.output(program)
        if program == GRADMILL:
            words = [f"specs={specs}", f"generated={output}", f"cache={self.folder / 'cache'}"]
            words = [*COMMANDS[GRADMILL], *words, f"families={self.subsets}"]
            return measure(words, ROOT, self.folder / f"{program}.log")
        aten = ["-s", str(specs / ATEN), "-d", str(output / "ATen"), "--per-operator-headers"]
        aten.append(f"--aoti-install-dir={self.folder / 'aoti'}")
        by_gen = measure([sys.executable, "-m", "torchgen.gen", *aten], ROOT, self.folder / f"{program}.log")
        script = [sys.executable, "-m", "bench.torchgen_script", str(specs), str(output), "flat"]
        return by_gen.then(measure(script, ROOT, self.folder / f"{program}.log"))


def run_all(
    folder: Path,
    scales: Sequence[int],
    runs: int,
    scaled_runs: int,
    scenarios: Sequence[Scenario],
    families: str,
    command: str,
) -> Iterator[Measured]:
    """All measurements. Scales alternate, too, so that they are comparable."""
    kinds: tuple[type[Bench], ...] = (OfScript, OfEverything)
    kind = next((kind for kind in kinds if set(scenarios) <= set(kind.scenarios)), Bench)
    benches = [kind(folder / f"x{scale}", scale, families, command) for scale in scales]
    for bench in benches:
        bench.warm_up()
    for scenario in scenarios:
        for bench in benches:
            bench.prepare(scenario)
        for run in range(runs):
            for bench in benches:
                if bench.scale == 1 or run < scaled_runs:
                    yield bench.pair(scenario, run)
