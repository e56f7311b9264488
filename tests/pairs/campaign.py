"""All pairs, by command."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import installed
from never_wrong.campaign import Trial, options, run
from small import Installed, Small

from . import __doc__ as doc
from .hold import References, outcome, wrong
from .settings import Case, cases, title
from .work import Programs


def main(words: Sequence[str]) -> int:
    parser = options(doc, None)
    parser.add_argument("--quick", action="store_true", help="the usual values only")
    parser.add_argument("--only", default="", help="the cases whose name has this text")
    wanted = parser.parse_args(words)
    seed = wanted.seed or None
    chosen = [case for case in cases(quick=wanted.quick, seed=seed) if wanted.only in title(case)]
    with tempfile.TemporaryDirectory() as name:
        return run(_trials(chosen, Path(name).resolve()), wanted)


def _trials(chosen: list[Case], folder: Path) -> Iterator[Trial]:
    for each in ("wheel", "venv"):
        (folder / each).mkdir()
    python = installed.install(installed.make_wheel(folder / "wheel"), folder / "venv") / "python"
    with Small() as editable, Installed(python) as wheel:
        programs = Programs(editable, wheel)
        references = References(programs)
        for number, case in enumerate(chosen):
            lines = wrong(outcome(case, folder / str(number), programs, references))
            yield Trial(case["set"], "".join(f"\n      {line}" for line in lines), title(case))
