"""Questions that may end the process that answers them: they are answered in a copy of it."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from typing import TypeVar

import torch

T = TypeVar("T")

SECONDS = 600.0  # for one question, of a clock: a machine may be busy
DEATHS = 8  # of copies: then the answer to all that is left is no


class Probe:
    """Asks in a copy of the process, which goes through the same code at the same time, and hears its answers.

    `run` marks where that code begins and ends. A question that ends the copy, or takes too long, is answered with no,
    and another copy goes on from there.
    """

    def __init__(self, *, forks: bool = True) -> None:
        self._forks = forks  # if not, questions are answered here: the drivers of many devices cannot be copied
        self.deaths = 0
        self._copy = 0
        self._reading = -1
        self._writing = -1  # only a copy has it

    def run(self, work: Callable[[], T]) -> T:
        """What `work` returns, which may ask."""
        try:
            return work()
        finally:
            if self._writing >= 0:
                os._exit(0)
            self._end()

    def ask(self, question: Callable[[], bool]) -> bool:
        """The answer of a copy. A question that raises is answered with no."""
        if not self._forks:
            return _answer(question)
        if self._writing < 0 and self._reading < 0:
            if self.deaths > DEATHS:
                return False
            self._fork()
        if self._writing >= 0:
            answer = _answer(question)
            os.write(self._writing, b"1" if answer else b"0")
            return answer
        ready, _, _ = select.select([self._reading], [], [], SECONDS)
        byte = os.read(self._reading, 1) if ready else b""
        if not byte:
            self.deaths += 1
            self._end()
        return byte == b"1"

    def _fork(self) -> None:
        reading, writing = os.pipe()
        self._copy = os.fork()
        if self._copy:
            os.close(writing)
            self._reading = reading
        else:
            os.close(reading)
            self._writing = writing
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what libraries print about arguments they refuse
            torch.set_num_threads(1)  # those of the original are not in a copy

    def _end(self) -> None:
        if self._reading < 0:
            return
        os.close(self._reading)
        os.kill(self._copy, signal.SIGKILL)
        os.waitpid(self._copy, 0)
        self._reading = -1


def _answer(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except Exception:
        return False
