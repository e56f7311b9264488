"""The worker processes of `-n`: Ctrl-C ends them and the run at once, without a traceback."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, get_context, process
from multiprocessing.queues import Queue
from typing import Any

from doit.exceptions import InvalidCommand
from doit.runner import MRunner

from pipeline.front.settings.hints import two_lines

_SECONDS = 0.5


class Jobs(Queue):  # type: ignore[type-arg]
    """A queue for doit that polls while it waits. Python misses a Ctrl-C right before a blocking read, which would
    then wait forever for workers that have ended. A worker whose run was killed ends as well, and a run with a killed
    worker fails."""

    def __init__(self) -> None:
        super().__init__(ctx=get_context())
        self._owner = os.getpid()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """The next item. `timeout` in seconds. Ends the process if its owner has ended, or a worker was killed."""
        while block and timeout is None and not self._reader.poll(_SECONDS):  # type: ignore[attr-defined]
            if self._owner not in (os.getpid(), os.getppid()):
                os._exit(1)
            _check_workers()
        return super().get(block, timeout)


def _check_workers() -> None:
    """Raises InvalidCommand if a worker of this process was killed: its task would never end."""
    statuses = [worker.exitcode for worker in process._children]  # type: ignore[attr-defined]
    killed = next((-status for status in statuses if status is not None and status < 0), 0)
    if killed:
        raise InvalidCommand(two_lines(f"a worker process was killed by signal {killed}", "run again"))


def _end_forks_by_ctrl_c() -> None:
    """Lets Ctrl-C end every process that this one forks. During a fork the signal waits: Python drops what a new
    process gets before it runs any code, and complains of what comes while a handler is set."""
    masks: list[Any] = []

    def block() -> None:
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]))

    def restore() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, masks.pop())

    def begin() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        restore()

    os.register_at_fork(before=block, after_in_parent=restore, after_in_child=begin)


@contextmanager
def workers() -> Iterator[None]:
    """The context of a run with workers. Ctrl-C ends each at once; multiprocessing would print a traceback if it came
    while a worker starts or ends. Workers that doit has not registered yet are ended too: they would wait for tasks."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it runs in the background
    if listens and hasattr(os, "register_at_fork"):
        _end_forks_by_ctrl_c()
        MRunner.Queue = Jobs
    try:
        yield
    except BaseException:
        if listens:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends this process too
        for worker in active_children():
            worker.terminate()
        raise
