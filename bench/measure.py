"""One process, measured: wall time, processor time, peak memory.

A process inherits the peak memory of the one that starts it, so this module is also a small program that does
nothing but start the measured one; `measure` runs it without site packages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# What would change how either program starts or writes its byte code.
_NOT_INHERITED = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONSTARTUP")


class Sample(NamedTuple):
    """What one process, or several in a row, took."""

    seconds: float  # wall time
    user: float
    system: float
    peak_rss: int  # bytes

    def then(self, other: Sample) -> Sample:
        """Both, one after the other."""
        return Sample(
            self.seconds + other.seconds,
            self.user + other.user,
            self.system + other.system,
            max(self.peak_rss, other.peak_rss),
        )


def measure(command: list[str], folder: Path, log: Path) -> Sample:
    """Runs `command` in `folder`, its output going to `log`. A command that fails ends the benchmark."""
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    starter = [sys.executable, "-I", "-S", __file__, str(log), *command]
    done = subprocess.run(starter, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    status, *numbers = json.loads(done.stdout)
    if status:
        raise SystemExit(f"{' '.join(command)}\nended with status {status}:\n{log.read_text()}")
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
