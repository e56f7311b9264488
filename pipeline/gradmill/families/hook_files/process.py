"""Calls the hooks of a description in a process of their own: `child.py` is what runs there."""

from __future__ import annotations

import selectors
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from gradmill.families.table import FAMILIES
from gradmill.io.decoding import decode_json

PATIENCE = 5.0  # seconds after which a line says what is running
LIMIT = 60.0  # seconds for one call
_MOST = 4  # processes at once: of a run one, of a check two more
# What families and pieces are called: hooks compare names with these alone.
_KNOWN = {"family": [*FAMILIES], "piece": sorted({piece for each in FAMILIES.values() for piece in each.pieces})}


class Answer(Struct):
    """What a call returned, or its error and the module and line that it is from."""

    value: Any = None
    error: str = ""
    at: tuple[str, int] = ("", 0)


class Process:
    """A process that has loaded the modules of hooks: their names and texts, `hooks` first. `seed`: of the order of
    sets of text."""

    def __init__(self, modules: tuple[tuple[str, str], ...], seed: int) -> None:
        child = files("gradmill.families.hook_files").joinpath("child.py").read_text()
        self._child = subprocess.Popen(  # noqa: S603 - the text of this package, in the same Python
            [sys.executable, "-S", "-P", "-c", child],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONHASHSEED": str(seed), "PYTHONIOENCODING": "utf-8"},
        )
        self._send((dict(modules), _KNOWN))

    def call(self, hook: str, *arguments: Any, title: str = "") -> Answer:
        """Calls a hook. `title`: what a line on the standard error calls it if it takes long; by default its name."""
        assert self._child.stdout is not None
        error = "the process of the hooks ended"
        with suppress(BrokenPipeError), selectors.DefaultSelector() as selector:  # of any number of open files
            self._send((hook, arguments))
            selector.register(self._child.stdout, selectors.EVENT_READ)
            ready = selector.select(PATIENCE)
            if not ready:
                print(f"still running: {title or hook}", file=sys.stderr, flush=True)
                ready = selector.select(LIMIT - PATIENCE)
            if not ready:
                error = f"takes longer than {LIMIT:.0f} s"
            elif line := self._child.stdout.readline():
                return decode_json(line, Answer)
        process.cache_clear()
        return Answer(error=error)

    def _send(self, value: Any) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(msgspec.json.encode(value) + b"\n")
        self._child.stdin.flush()

    def __del__(self) -> None:
        self._child.kill()
        self._child.communicate()


process = lru_cache(maxsize=_MOST)(Process)  # the process that modules already have for a seed, or else a new one
