"""The worker processes of `-n`: Ctrl-C ends them, and the run, without a traceback and without a wait."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from multiprocessing.queues import Queue
from typing import Any

from doit.runner import MRunner

_SECONDS = 0.5


class Jobs(Queue):  # type: ignore[type-arg]
    """A queue of doit's. Who reads looks up now and then: Python does not notice Ctrl-C just before a read that waits,
    and the workers, which have ended, write nothing more."""

    def __init__(self) -> None:
        super().__init__(ctx=get_context())

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        while block and timeout is None and not self._reader.poll(_SECONDS):  # type: ignore[attr-defined]
            pass
        return super().get(block, timeout)


@contextmanager
def workers() -> Iterator[None]:
    """A run with workers. Ctrl-C ends each at once, as doit does itself: multiprocessing would print a traceback where
    it begins or ends one. Those that doit does not know of yet are ended too: they would wait for tasks."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is in the background
    if listens and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        MRunner.Queue = Jobs
    try:
        yield
    except BaseException:
        if listens:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # once more, it ends this process too
        for worker in active_children():
            worker.terminate()
        raise
