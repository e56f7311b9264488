"""The two parts of a doit task: the up-to-date check, and the action that writes a file or fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TextIO

from doit.action import BaseAction
from doit.exceptions import InvalidCommand, TaskError, TaskFailed

from pipeline.code.files import CodeChanged
from pipeline.io.files import Stat, replace_file, stat_of
from pipeline.problems.plain import line, message_of
from pipeline.problems.problem import SpecError

CHANGED = "gradmill's own code changed while it ran: run again"


class Effect(BaseAction):  # type: ignore[misc]
    """A task's action: reports a failure or writes a file. It may run in a worker process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failure = ""
        self.error = ""
        self.path = ""
        self.data: Sequence[bytes | memoryview] = ()
        self.units = 1
        self.written: Stat | None = None  # the file's stat, if this process wrote it
        self.task: Any = None
        self.result: object = None
        self.values: dict[str, Any] = {}
        self.err = self.out = ""

    def execute(self, out: TextIO | None = None, err: TextIO | None = None) -> TaskFailed | TaskError | None:
        values = self.task.values if self.task is not None else {}
        failure, error = values.get("failure", ""), values.get("error", "")
        self.err = failure or error or self._write()
        if not self.err:
            return None
        kind = TaskFailed if failure else TaskError
        return kind(self.err, report=False)  # the run reports it, independent of doit's reporter

    def _write(self) -> str:
        """Writes the pending file, if any; returns the error message, "" on success."""
        if self.path:
            try:
                replace_file(self.path, *self.data)
                self.written, self.data = stat_of(self.path), ()
            except OSError as error:
                text = line(f"{error.filename or self.path}: {error.strerror or error}")
                return f"{text}\n  nothing was half-written"
        return ""

    def __str__(self) -> str:
        return self.name


class IsCurrent:
    """doit's `uptodate`: brings a task's root up to date, and passes the remaining work to the task's action."""

    def __init__(self, look: Callable[[Effect], bool]) -> None:
        self._look = look

    @property
    def __signature__(self) -> inspect.Signature:
        return _signature()

    def __repr__(self) -> str:
        return "its dependencies"

    def __call__(self, task: Any, values: dict[str, Any]) -> bool:
        effect: Effect = task.actions[0]
        current = self._current(effect)
        if effect.failure or effect.error:  # a worker process receives these with the task
            task.values = {"failure": effect.failure, "error": effect.error}
        return current

    def _current(self, effect: Effect) -> bool:
        try:
            return self._look(effect)
        except SpecError as error:
            effect.error = message_of(error)
        except CodeChanged:
            effect.error = CHANGED
        except OSError as error:
            effect.error = line(f"{error.filename or ''}: {error.strerror or error}")
        return False


@lru_cache
def _signature() -> inspect.Signature:
    """doit asks for the signature of every callable; computing it each time costs more than the check."""
    return inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("task", "values")]
    )


@contextmanager
def without_traceback() -> Iterator[None]:
    """Reports CodeChanged without a traceback while tasks are created; `IsCurrent` does so while they are checked."""
    try:
        yield
    except CodeChanged:
        raise InvalidCommand(CHANGED) from None
