"""Runs the checks of formulas in processes of their own, which may crash or hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from gradmill.extensions.verify.model import Code, Verdict
from gradmill.extensions.verify.remembered import digests
from gradmill.io.decoding import decode_json
from gradmill.problems.problem import SpecError
from gradmill.session.own_code import PACKAGE

Put = Callable[[Verdict], None]
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

    def check(self, codes: Sequence[Code], library: Path, folder: Path, *, python: str) -> Iterator[Verdict]:
        """The verdicts of formulas in a library, each as soon as it is known. `folder`: for torch's own samples;
        `python`: a file of functions in the place of operators, or ""."""
        parts = max(min(os.cpu_count() or 1, len(codes)), 1)
        job = {"library": str(library), "folder": str(folder), "python": python}
        found = SimpleQueue[Verdict | None]()
        with ThreadPoolExecutor(parts) as pool:
            running = [pool.submit(self._part, codes[i::parts], job, found.put) for i in range(parts)]
            for part in running:
                part.add_done_callback(lambda _: found.put(None))
            for _ in running:
                yield from iter(found.get, None)
            for part in running:
                part.result()

    def _part(self, codes: Sequence[Code], job: dict[str, Any], put: Put) -> None:
        """Puts the verdicts of some formulas. If a sample ends the process, the next process asks whether torch's own
        formula does so, too, and leaves it out. After too many of them one stops at the first, as memory may be spoilt
        before; if that ends as well, the next formula follows."""
        rest, without = list(codes), dict[int, str]()
        while rest:
            count = len(rest)
            end = self._run(rest, without, job, put)
            done = len(rest) < count
            without = {} if done else without
            if rest and (end.why or not done):
                without[end.sample] = end.why
                waits = end.why == _ENDED[signal.SIGALRM]
                if waits or end.sample < 0 or len(without) > _MOST + 1:
                    reason = f"the formula, or its operator, {end.why}"
                    put(Verdict(rest.pop(0).subject.name, unchecked=reason, files=end.files, transient=waits))
                    without = {}

    def _run(self, rest: list[Code], without: dict[int, str], job: dict[str, Any], put: Put) -> _End:
        """Puts the verdicts that one process finds up to its end; formulas with one are removed from `rest`. `without`:
        the numbers of samples of the first of them that end it, and how. SpecError if it ends before it checks any."""
        subjects = [msgspec.to_builtins(code.subject) | {"without": {}, "last": None} for code in rest]
        subjects[0]["without"] = {str(number): how for number, how in without.items()}
        subjects[0]["last"] = min(without) if len(without) > _MOST else None
        try:
            process = self._started.pop()
        except IndexError:
            process = _start()
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        with ThreadPoolExecutor(1) as pool:
            errors = pool.submit(process.stderr.read)
            with suppress(BrokenPipeError):
                process.stdin.write(msgspec.json.encode(job | {"subjects": subjects}).decode())
                process.stdin.close()
            first, sample = next(process.stdout, ""), -1
            files = digests(decode_json(first, list[str])) if first else {}
            for line in process.stdout:
                sample = -1 if line.startswith("{") else int(line)
                if sample < 0:
                    put(replace(decode_json(line, Verdict), files=files))
                    rest.pop(0)
        why = ""
        if process.wait() or sample >= 0:
            last = (errors.result().strip().splitlines() or [""])[-1]
            why = f"ends the process with status {process.returncode}: {last}".removesuffix(": ")
            if process.returncode < 0:
                signaled = f"ends the process with signal {-process.returncode}"
                why = _ENDED.get(signal.Signals(-process.returncode), signaled)
        if not first:
            hint = "what it imports, and the file that python= names, must run"
            raise SpecError(f"verify: the process of the checks {why}", hint)
        return _End(why, sample, files)


class _End(NamedTuple):
    """How a process ended, "" if all was well; the number of its last sample, -1 if that is not to blame; and what the
    file of reference functions loaded."""

    why: str
    sample: int
    files: dict[str, str]


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
    memory (`child/checks.py`): what reads it after that is found out."""
    paths = (os.path.dirname(PACKAGE), os.environ.get("PYTHONPATH", ""))
    tunables = (os.environ.get("GLIBC_TUNABLES", ""), "glibc.malloc.tcache_count=0")
    own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "GLIBC_TUNABLES": ":".join(filter(None, tunables))}
    return os.environ | own
