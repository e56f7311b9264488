"""One process, measured: wall time, processor time, peak memory.

A process inherits the peak memory of its parent. Therefore this module is also a small program that only starts the
measured process; `measure` runs it without site packages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# Variables that change how a program starts or writes its byte code.
_NOT_INHERITED = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONSTARTUP")


class Sample(NamedTuple):
    """The time and memory of one process, or of several in a row."""

    seconds: float  # wall time
    user: float
    system: float
    peak_rss: int  # bytes

    def then(self, other: Sample) -> Sample:
        """The sum of both, for processes that run one after the other."""
        return Sample(
            self.seconds + other.seconds,
            self.user + other.user,
            self.system + other.system,
            max(self.peak_rss, other.peak_rss),
        )


def measure(command: list[str], folder: Path, log: Path) -> Sample:
    """Runs `command` in `folder` with its output in `log`. Exits with the log if the command fails."""
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    starter = [sys.executable, "-I", "-S", __file__, str(log), *command]
    finished = subprocess.run(starter, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    status, *numbers = json.loads(finished.stdout)
    if status:
        raise SystemExit(f"{' '.join(command)}\nexited with status {status}:\n{log.read_text()}")
    return Sample(*numbers)


def _start(log: str, command: list[str]) -> list[float]:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    actions = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    return [os.waitstatus_to_exitcode(status), seconds, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * unit]


if __name__ == "__main__":
    print(json.dumps(_start(sys.argv[1], sys.argv[2:])))
