"""The small process of which runs of doit and gradmill are copies: the one that runs the tests has loaded torch, and a
copy of that takes 10 ms more. For each run, a line of JSON in and one out.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import forked

RUNS = {"doit": forked.run_doit, "gradmill": forked.run_gradmill}


class Small:
    """The process, for who asks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self._close)

    def run(self, program: str, words: list[str], folder: Path) -> forked.Ended:
        """Runs doit or gradmill in a folder, with the environment and the path of modules that this process has now."""
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = [program, words, str(folder), dict(os.environ), sys.path]
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that runs are copies of has ended"
        return forked.Ended(*json.loads(answer))

    def _close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@cache
def small(process: int) -> Small:
    """The small process of a process, by its number: a copy of this one needs another."""
    return Small()


def _serve() -> None:
    forked.prepare()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_ended(*json.loads(line))), flush=True)


def _ended(program: str, words: list[str], folder: str, environment: dict[str, str], path: list[str]) -> forked.Ended:
    def work() -> int:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path
        return RUNS[program](words)

    return forked.forked(work, [program, *words], Path(folder))


if __name__ == "__main__":
    _serve()
