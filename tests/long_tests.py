"""The tests that take so long that only a campaign runs them, those with the mark `campaign`, one by one.

python -m tests.campaigns long [FILE ...] [--count N] [--seed N] [--minutes M]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence

from never_wrong.campaign import Trial, in_order, options, run
from project import ROOT


def pytest(*words: str) -> list[str]:
    """The lines that pytest prints; none if a test fails."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", *words]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def trials(names: list[str]) -> Iterator[Trial]:
    for name in names:
        yield Trial(name.partition("::")[0], "" if pytest(name) else "it fails", name)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("files", nargs="*", metavar="FILE", default=["tests"], help="of tests; by default all")
    wanted = parser.parse_args(words)
    names = [line for line in pytest("--collect-only", "-m", "campaign", *wanted.files) if "::" in line]
    return run(trials(in_order(names, wanted)), wanted)
