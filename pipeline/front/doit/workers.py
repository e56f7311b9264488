"""The worker processes of `-n`: Ctrl-C ends them and the run at once, without a traceback."""

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
    """A queue for doit that polls while it waits. Python misses a Ctrl-C right before a blocking read, which would
    then wait forever for workers that have ended."""

    def __init__(self) -> None:
        super().__init__(ctx=get_context())

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        while block and timeout is None and not self._reader.poll(_SECONDS):  # type: ignore[attr-defined]
            pass
        return super().get(block, timeout)


@contextmanager
def workers() -> Iterator[None]:
    """The context of a run with workers. Ctrl-C ends each at once; multiprocessing would print a traceback if it came
    while a worker starts or ends. Workers that doit has not registered yet are ended too: they would wait for tasks."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it runs in the background
    if listens and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        MRunner.Queue = Jobs
    try:
        yield
    except BaseException:
        if listens:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends this process too
        for worker in active_children():
            worker.terminate()
        raise
