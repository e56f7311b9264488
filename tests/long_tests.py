"""The tests that take so long that only a campaign runs them, those with the mark `campaign`, one by one.

python -m tests.campaigns long [FILE ...] [--count N] [--seed N] [--minutes M]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence

from never_wrong.campaign import Trial, in_order, options, run
from project import ROOT


def pytest(*words: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest, in which a test may take an hour: a busy machine is no failure."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-o", "faulthandler_timeout=3600", *words]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def trials(names: list[str]) -> Iterator[Trial]:
    for name in names:
        done = pytest(name)
        yield Trial(name.partition("::")[0], f"it fails\n{done.stdout[-8000:]}" * bool(done.returncode), name)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("files", nargs="*", metavar="FILE", default=["tests"], help="of tests; by default all")
    wanted = parser.parse_args(words)
    listed = pytest("--collect-only", "-m", "campaign", *wanted.files).stdout.splitlines()
    names = [line for line in listed if "::" in line]
    return run(trials(in_order(names, wanted)), wanted)
