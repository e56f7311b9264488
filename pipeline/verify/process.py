"""Runs the checks of formulas in processes of their own, which may crash or hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from pipeline.verify.model import Code, Verdict

_ROOT = Path(__file__).parents[2]  # of the package `pipeline`
_SECONDS = 120  # for one operator


def check(codes: Sequence[Code], library: Path, folder: Path, *, python: str, limit: int) -> Iterator[Verdict]:
    """The verdicts of formulas in a library. `folder`: for torch's own samples; `python`: a file of reference functions,
    or ""; `limit`: the samples of each kind."""
    processes = min(os.cpu_count() or 1, len(codes))
    job = {"library": str(library), "folder": str(folder), "python": python, "limit": limit}
    with ThreadPoolExecutor(max(processes, 1)) as pool:
        for verdicts in pool.map(lambda part: _part(part, job), (codes[i::processes] for i in range(processes))):
            yield from verdicts


def _part(codes: Sequence[Code], job: dict[str, Any]) -> list[Verdict]:
    """The verdicts of some formulas: a process that ends goes on after the formula that ended it."""
    rest, verdicts = list(codes), []
    while rest:
        done = _Process(rest, job).verdicts()
        verdicts += done
        rest = rest[len(done) :]
    return verdicts


class _Process:
    """One process. `codes`: what it is to check."""

    def __init__(self, codes: Sequence[Code], job: dict[str, Any]) -> None:
        subjects = [msgspec.to_builtins(code.subject) for code in codes]
        self._codes = codes
        self._job = json.dumps(job | {"subjects": subjects})
        paths = (str(_ROOT), os.environ.get("PYTHONPATH", ""))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "pipeline.verify.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._hangs = False

    def verdicts(self) -> list[Verdict]:
        """Those of the formulas up to the end of the process, at least one."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))  # type: ignore[union-attr]
        reader.start()
        process.stdin.write(self._job)
        process.stdin.close()
        verdicts = []
        for line in self._lines():
            verdicts.append(msgspec.json.decode(line, type=Verdict))
        reader.join()
        if process.wait() and len(verdicts) < len(self._codes):
            code = self._codes[len(verdicts)]
            verdicts.append(Verdict(code.subject.name, unchecked=self._why(process.returncode, "".join(errors))))
        return verdicts

    def _lines(self) -> Iterator[str]:
        """The lines that the process prints. One that prints nothing for too long is killed."""
        assert self._process.stdout is not None
        while True:
            timer = threading.Timer(_SECONDS, self._kill)
            timer.start()
            line = self._process.stdout.readline()
            timer.cancel()
            if not line:
                return
            yield line

    def _kill(self) -> None:
        self._hangs = True
        self._process.kill()

    def _why(self, status: int, errors: str) -> str:
        if self._hangs:
            return f"the formula, or its operator, takes longer than {_SECONDS} seconds"
        if status < 0:
            return f"the formula, or its operator, ends the process with signal {-status}"
        return f"the process of the checks ends with status {status}: {(errors.strip().splitlines() or [''])[-1]}"
