"""The alternatives to gradmill, and how their cost grows with the specs: `python -m bench.rivals`.

Four ways to keep the generated files up to date: torchgen as one rule of a Ninja file, gradmill as one rule of the
Ninja file that it exports, `doit`, and the `gradmill` command. Each runs in the same situations, at several sizes of
the specs; all files must be equal after every edit. The figures are medians of whole processes. The growth of each is
fitted as a line, a + b n milliseconds for n times the specs.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import edits
from bench.measure import measure
from bench.specs import SpecFolder, make

ROOT = Path(__file__).resolve().parent.parent
_RESULTS = ROOT / "build" / "bench"
_PAUSE = 0.05  # a file that is written and read within one clock tick is read again by the next run

_TORCHGEN = """\
rule torchgen
  command = cd {root} && {python} -m bench.torchgen_run {specs} {out} {families} && touch {stamp}
build {stamp}: torchgen {inputs}
"""


class Rival(NamedTuple):
    """A way to keep the files of a spec set up to date."""

    name: str
    color: str


TORCHGEN, EXPORTED, DOIT, GRADMILL = RIVALS = (
    Rival("torchgen, one Ninja rule", "#9aa5b1"),
    Rival("gradmill, exported Ninja rule", "#d97706"),
    Rival("doit", "#2563eb"),
    Rival("gradmill", "#0f766e"),
)


class Situation(NamedTuple):
    """The change since the last run."""

    name: str
    edit: Callable[[edits.Texts, int], edits.Texts] | None = None
    cold: bool = False


SITUATIONS = (
    Situation("nothing to do"),
    Situation("a formula", edits.formula),
    Situation("a schema", edits.schema),
    Situation("a comment", edits.comment),
    Situation("cold", cold=True),
)


class Field:
    """A spec set of one size, and the folder of each rival."""

    def __init__(self, folder: Path, size: int, families: str) -> None:
        self.folder, self.size, self.families = folder, size, families
        self.specs: SpecFolder = make(folder / "set", size)
        self.base = self.specs.texts()
        self.commands = {rival: self._command(rival) for rival in RIVALS}
        self._edits = 0
        for rival in RIVALS:
            self.run(rival)
        self.compare("the first run")

    def output(self, rival: Rival) -> Path:
        return self.folder / f"generated-{RIVALS.index(rival)}"

    def cache(self, rival: Rival) -> Path:
        return self.folder / f"cache-{RIVALS.index(rival)}"

    def _words(self, rival: Rival) -> list[str]:
        places = [f"specs={self.specs.folder}", f"generated={self.output(rival)}", f"cache={self.cache(rival)}"]
        return [*places, f"families={self.families}"]

    def _command(self, rival: Rival) -> list[str]:
        if rival is DOIT:
            return [sys.executable, "-m", "doit", *self._words(rival)]
        program = str(Path(sys.executable).with_name("gradmill"))
        if rival is GRADMILL:
            return [program, *self._words(rival)]
        file = self.folder / f"{RIVALS.index(rival)}.ninja"
        if rival is EXPORTED:
            command = [program, "export", "ninja", *self._words(rival)]
            finished = subprocess.run(command, check=True, capture_output=True, text=True, cwd=self.folder)
            file.write_text(finished.stdout)
        else:
            inputs = [self.specs.native, self.specs.derivatives, self.specs.tags, *self.specs.templates.iterdir()]
            values = {"root": ROOT, "python": sys.executable, "specs": self.specs.folder, "out": self.output(rival)}
            stamp, names = self.folder / "torchgen.stamp", " ".join(map(str, inputs))
            file.write_text(_TORCHGEN.format(**values, families=self.families, stamp=stamp, inputs=names))
        ninja = shutil.which("ninja")
        if ninja is None:
            raise SystemExit("Ninja is not on the PATH")
        return [ninja, "-C", str(self.folder), "-f", str(file)]

    def run(self, rival: Rival) -> float:
        """Runs a rival and returns the seconds."""
        return measure(self.commands[rival], ROOT, self.folder / "log").seconds

    def once(self, situation: Situation, order: list[Rival]) -> dict[Rival, float]:
        """Runs every rival in the situation, one right after the other. Returns their seconds."""
        if situation.cold:
            for rival in RIVALS:
                shutil.rmtree(self.output(rival))
                shutil.rmtree(self.cache(rival), ignore_errors=True)
            (self.folder / "torchgen.stamp").unlink()
        if situation.edit:
            self._edits += 1
            self.specs.write(situation.edit(self.base, self._edits))
            time.sleep(_PAUSE)
        seconds = {rival: self.run(rival) for rival in order}
        self.compare(situation.name)
        return seconds

    def compare(self, when: str) -> None:
        """Exits if the files of a rival differ from torchgen's. `when`: the situation, for the message."""
        theirs = self.output(TORCHGEN)
        names = sorted(path.relative_to(theirs).as_posix() for path in theirs.rglob("*") if path.is_file())
        for rival in RIVALS:
            filecmp.clear_cache()
            _, different, missing = filecmp.cmpfiles(self.output(rival), theirs, names, shallow=False)
            if different or missing or not names:
                raise SystemExit(f"{when}: files of {rival.name} differ from torchgen's: {different}, {missing}")


class Growth(NamedTuple):
    """A rival in a situation: milliseconds by size, and the fitted line."""

    situation: str
    rival: Rival
    points: dict[int, float]

    @property
    def line(self) -> tuple[float, float]:
        """a and b of a + b n; with only one size, b is 0."""
        if len(self.points) == 1:
            return next(iter(self.points.values())), 0.0
        fitted = statistics.linear_regression(list(self.points), list(self.points.values()))
        return fitted.intercept, fitted.slope


def main() -> None:
    options = _options()
    measured: dict[tuple[str, Rival], dict[int, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="gradmill-rivals-") as folder:
        for size in options.sizes:
            place = Path(folder).resolve() / f"x{size}"
            field = Field(place, size, options.families)
            for situation in SITUATIONS:
                for run in range(options.runs):
                    order = [*RIVALS[run % len(RIVALS) :], *RIVALS[: run % len(RIVALS)]]
                    for rival, seconds in field.once(situation, order).items():
                        measured.setdefault((situation.name, rival), {}).setdefault(size, []).append(seconds)
                        sys.stderr.write(f"x{size}, {situation.name}: {rival.name} {seconds:.4f} s\n")
            shutil.rmtree(place)
    growths = [
        Growth(situation, rival, {size: 1000 * statistics.median(each) for size, each in sizes.items()})
        for (situation, rival), sizes in measured.items()
    ]
    growths.sort(key=lambda g: ([s.name for s in SITUATIONS].index(g.situation), RIVALS.index(g.rival)))
    print(table(growths, options.sizes))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"situation": s, "rival": r.name, "size": n, "seconds": v}
        for (s, r), e in measured.items()
        for n, v in e.items()
    ]
    settings = {"families": options.families, "load": os.getloadavg()[0], "cores": os.cpu_count()}
    options.json.write_text(json.dumps({**settings, "rows": rows}, indent=1) + "\n")
    if options.plot:
        draw(growths, options.plot)


def table(growths: list[Growth], sizes: list[int]) -> str:
    """A table in Markdown: milliseconds for each size of the specs, and the fitted line."""
    lines = ["| | | " + " | ".join(f"x{size}" for size in sizes) + " | fitted, ms |", "|---" * (len(sizes) + 3) + "|"]
    last = ""
    for growth in growths:
        a, b = growth.line
        cells = [f"{growth.points[size]:.3g}" for size in sizes]
        title = growth.situation if growth.situation != last else ""
        lines.append(
            f"| {title} | {growth.rival.name} | {' | '.join(cells)} | {a:.3g} {'+' if b >= 0 else '-'} {abs(b):.3g} n |"
        )
        last = growth.situation
    return "\n".join(lines)


def draw(growths: list[Growth], path: Path) -> None:
    """Draws a panel per situation to `path`: milliseconds over the size of the specs, both logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(SITUATIONS), 4.0), layout="constrained")
    panels = figure.subplots(1, len(SITUATIONS), sharey=True)
    for panel, situation in zip(panels, SITUATIONS):
        for growth in (g for g in growths if g.situation == situation.name):
            points = growth.points
            panel.plot(list(points), list(points.values()), "o-", color=growth.rival.color, label=growth.rival.name)
        panel.set_title(situation.name, fontsize=11)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xticks(sorted(growths[0].points), [f"x{size}" for size in sorted(growths[0].points)])
        panel.minorticks_off()
        panel.grid(color="#e4e7eb")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("milliseconds")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(RIVALS), frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.rivals", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs in each situation (3)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 5, 10, 20], metavar="N", help="times the specs")
    parser.add_argument(
        "--families", default="nodes,factories", metavar="NAMES", help="output families (the Nodes and factories)"
    )
    parser.add_argument("--json", type=Path, default=_RESULTS / "rivals.json", metavar="FILE", help="every measurement")
    parser.add_argument("--plot", type=Path, default=_RESULTS / "rivals.png", metavar="FILE", help="a .png or .svg")
    parser.add_argument("--no-plot", dest="plot", action="store_const", const=None, help="draw nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
