"""Runs of gradmill with a bound on their processor time, and what they took: copies of one small process, as starting
Python and loading gradmill takes longer than most runs of a small set.

with Limited() as limited:
    limited.run(words, log, seconds)
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from pathlib import Path
from typing import NamedTuple

import forked
from server import Server


class Took(NamedTuple):
    """What a run took, and its status: negative where a signal ended it."""

    status: int
    seconds: float  # of processor time
    megabytes: float  # at its peak, with those of the process that it is a copy of


class Limited(Server):
    """The process that is copied. It is small: what it holds counts as memory of each run."""

    module = ("-m", "tests.never_wrong.limited")

    def run(self, words: list[str], log: Path, seconds: int) -> Took:
        """`python -m gradmill` with these words. What it writes goes to `log`; after so many seconds it is ended."""
        return Took(*self.ask(words, str(log), seconds))


def _serve() -> None:
    forked.prepare()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os._exit(_child(*json.loads(line)))
        _, status, usage = os.wait4(child, 0)
        seconds = usage.ru_utime + usage.ru_stime
        print(json.dumps(Took(os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024)), flush=True)


def _child(words: list[str], log: str, seconds: int) -> int:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(output, 1)
    os.dup2(output, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    return forked.child(lambda: forked.run_gradmill(words), ["gradmill", *words], forked.ROOT)


if __name__ == "__main__":
    _serve()
