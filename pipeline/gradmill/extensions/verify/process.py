"""Runs the checks of formulas in processes of their own, which may crash or hang."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec
from msgspec.structs import replace

from gradmill.extensions.verify.model import Code, Verdict
from gradmill.extensions.verify.remembered import digests
from gradmill.io.decoding import decode_json
from gradmill.problems.problem import SpecError
from gradmill.session.own_code import PACKAGE

_MOST = 4  # samples of one operator that may end a process
# How a process ends that takes too long (`child/__main__.py`).
_ENDED = {signal.SIGXCPU: "takes longer than a minute of CPU time", signal.SIGALRM: "takes longer than ten minutes"}


class Checker:
    """Processes that check formulas: up to `count` of them start, and import torch, while the formulas compile. Used in
    a `with` statement."""

    def __init__(self, count: int) -> None:
        self._started = [_start() for _ in range(min(os.cpu_count() or 1, count))]

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            with process:
                process.kill()

    def check(
        self, codes: Sequence[Code], library: Path, folder: Path, *, python: str, limit: int
    ) -> Iterator[Verdict]:
        """The verdicts of formulas in a library, each as soon as it is known. `folder`: for torch's own samples;
        `python`: a file of functions in the place of operators, or ""; `limit`: the samples of each kind."""
        parts = max(min(os.cpu_count() or 1, len(codes)), 1)
        job = {"library": str(library), "folder": str(folder), "python": python, "limit": limit}
        found = SimpleQueue[Verdict | None]()
        with ThreadPoolExecutor(parts) as pool:
            running = [pool.submit(self._part, codes[i::parts], job, found.put) for i in range(parts)]
            for part in running:
                part.add_done_callback(lambda _: found.put(None))
            for _ in running:
                yield from iter(found.get, None)
            for part in running:
                part.result()

    def _part(self, codes: Sequence[Code], job: dict[str, Any], put: Callable[[Verdict], None]) -> None:
        """Puts the verdicts of some formulas. If a sample ends the process, the next process asks whether torch's own
        formula does so, too, and leaves it out. After too many of them one stops at the first, as memory may be spoilt
        before; if that ends as well, the next formula follows."""
        rest, without = list(codes), dict[int, str]()
        while rest:
            process, count = _Process(self._next(), rest, without, job), len(rest)
            for verdict in process.verdicts():
                put(verdict)
                rest.pop(0)
            done = len(rest) < count
            without = {} if done else without
            if rest and (process.why or not done):
                without[process.sample] = process.why
                waits = process.why == _ENDED[signal.SIGALRM]
                if waits or process.sample < 0 or len(without) > _MOST + 1:
                    reason = f"the formula, or its operator, {process.why}"
                    put(Verdict(rest.pop(0).subject.name, unchecked=reason, files=process.files, transient=waits))
                    without = {}

    def _next(self) -> subprocess.Popen[str]:
        try:
            return self._started.pop()
        except IndexError:
            return _start()


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gradmill.extensions.verify.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def environment() -> dict[str, str]:
    """That of the processes. Without its caches of freed memory, glibc fills what it frees, too, if it is told to fill
    memory (`child/call_at_sample.py`): what reads it after that is found out."""
    paths = (os.path.dirname(PACKAGE), os.environ.get("PYTHONPATH", ""))
    tunables = (os.environ.get("GLIBC_TUNABLES", ""), "glibc.malloc.tcache_count=0")
    own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "GLIBC_TUNABLES": ":".join(filter(None, tunables))}
    return os.environ | own


class _Process:
    """One process. `codes`: what it is to check; `without`: the numbers of samples of the first one that end it, and
    how. After `verdicts`, `why` says how it ended, `sample` is the number of the last sample, -1 if it is not to blame,
    and `files` what the file of reference functions loaded."""

    def __init__(
        self, process: subprocess.Popen[str], codes: Sequence[Code], without: dict[int, str], job: dict[str, Any]
    ) -> None:
        subjects = [msgspec.to_builtins(code.subject) | {"without": {}, "last": None} for code in codes]
        subjects[0]["without"] = {str(number): how for number, how in without.items()}
        subjects[0]["last"] = min(without) if len(without) > _MOST else None
        self._job = msgspec.json.encode(job | {"subjects": subjects}).decode()
        self._process = process
        self.why, self.sample = "", -1
        self.files: dict[str, str] = {}

    def verdicts(self) -> Iterator[Verdict]:
        """Those of the formulas up to the end of the process. SpecError if it ends before it checks any."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))  # type: ignore[union-attr]
        reader.start()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self._job)
            process.stdin.close()
        first = next(process.stdout, "")
        self.files = digests(decode_json(first, list[str])) if first else {}
        for line in process.stdout:
            if line.startswith("{"):
                self.sample = -1
                yield replace(decode_json(line, Verdict), files=self.files)
            else:
                self.sample = int(line)
        reader.join()
        if process.wait() or self.sample >= 0:
            self.why = self._why(process.returncode, "".join(errors))
        if not first:
            raise SpecError(
                f"verify: the process of the checks {self.why}",
                "what it imports, and the file that python= names, must run",
            )

    @staticmethod
    def _why(status: int, errors: str) -> str:
        if -status in _ENDED:
            return _ENDED[signal.Signals(-status)]
        if status < 0:
            return f"ends the process with signal {-status}"
        return f"ends the process with status {status}: {(errors.strip().splitlines() or [''])[-1]}".removesuffix(": ")
