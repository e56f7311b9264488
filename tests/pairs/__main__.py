"""All pairs, by command."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import installed
from small import Installed, Small

from . import __doc__ as doc
from .hold import References, outcome, wrong
from .settings import cases, impossible, table, title
from .work import Programs


def main() -> int:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the values of the default tests only")
    parser.add_argument("--seed", type=int, help="the values in another order")
    parser.add_argument("--only", default="", help="the cases whose name has this text")
    parser.add_argument("--list", action="store_true", help="run nothing")
    options = parser.parse_args()
    all_cases = cases(quick=options.quick, seed=options.seed)
    values = table(quick=options.quick, seed=options.seed)
    print(f"{len(values)} settings, {len(all_cases)} cases")
    reasons = Counter(impossible(values, all_cases).values())
    for reason, count in reasons.items():
        print(f"{count:5} pairs: {reason or 'NO REASON'}")
    chosen = [case for case in all_cases if options.only in title(case)]
    if options.list:
        print(*map(title, chosen), sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as name:
        return _run(chosen, Path(name).resolve())


def _run(chosen: list[dict[str, str]], folder: Path) -> int:
    began = time.time()
    for each in ("wheel", "venv"):
        (folder / each).mkdir()
    python = installed.install(installed.make_wheel(folder / "wheel"), folder / "venv") / "python"
    failed = 0
    with Small() as editable, Installed(python) as wheel:
        programs = Programs(editable, wheel)
        references = References(programs)
        for number, case in enumerate(chosen):
            lines = wrong(outcome(case, folder / str(number), programs, references))
            failed += bool(lines)
            for line in (f"{number}: {title(case)}", *(f"      {line}" for line in lines)) if lines else ():
                print(line, flush=True)
    print(f"{len(chosen)} cases, {failed} failed, {time.time() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
