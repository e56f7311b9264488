"""All pairs, by command."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import installed
from never_wrong.campaign import Trial, options, run
from small import Installed, Small

from . import __doc__ as doc
from .hold import References, outcome, wrong
from .settings import Case, cases, impossible, table, title
from .work import Programs


def main(words: Sequence[str]) -> int:
    parser = options(doc, None)
    parser.add_argument("--quick", action="store_true", help="the usual values only")
    parser.add_argument("--only", default="", help="the cases whose name has this text")
    parser.add_argument("--list", action="store_true", help="run nothing")
    wanted = parser.parse_args(words)
    seed = wanted.seed or None
    all_cases, values = cases(quick=wanted.quick, seed=seed), table(quick=wanted.quick, seed=seed)
    print(f"{len(values)} settings, {len(all_cases)} cases")
    reasons = Counter(impossible(values, all_cases).values())
    for reason, count in reasons.items():
        print(f"{count:5} pairs: {reason or 'NO REASON'}")
    chosen = [case for case in all_cases if wanted.only in title(case)]
    if wanted.list:
        print(*map(title, chosen), sep="\n")
        return 0
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
