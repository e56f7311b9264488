"""The two parts of a doit task: the up-to-date check, and the action that does the rest of the work or fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, TextIO

from doit.action import BaseAction
from doit.exceptions import InvalidCommand, TaskError, TaskFailed

from pipeline.front.run.own_code import CodeChanged
from pipeline.problems.plain import message_of, reason
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.front.run.contents import At
    from pipeline.front.run.problems import Problems

CHANGED = "gradmill's own code changed while it ran: run again"


class TaskAction(BaseAction):  # type: ignore[misc]
    """A task's action: what the check left to do."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: Problems | None = None  # if the specs have errors
        self.error = ""  # why the task fails otherwise
        self.writes: Callable[[], object] | None = None  # writes the file, or several
        self.count = 1  # how many
        self.wrote = 0
        self.units: list[At] = []  # that the check brought up to date
        self.task: Any = None
        self.result: object = None
        self.values: dict[str, Any] = {}
        self.err = self.out = ""

    def execute(self, out: TextIO | None = None, err: TextIO | None = None) -> TaskFailed | TaskError | None:
        if self.problems is None and not self.error:
            self._write()
        self.err = self.failure
        if not self.err:
            return None
        kind = TaskError if self.problems is None else TaskFailed
        return kind(self.err, report=False)  # the run reports it, independent of doit's reporter

    @property
    def failure(self) -> str:
        """Why the task fails, "" if it does not."""
        return self.error if self.problems is None else self.problems.report

    def _write(self) -> None:
        if self.writes is None:
            return
        try:
            self.writes()
            self.wrote = self.count
        except SpecError as error:
            self.error = message_of(error)
        except OSError as error:
            self.error = f"{reason(error)}\n  nothing was half-written"
        finally:
            self.writes = None  # it holds the bytes of a file

    def __str__(self) -> str:
        return self.name


class IsCurrent:
    """doit's `uptodate`. `check` brings the result of a task up to date, and leaves the rest to the task's action."""

    # doit asks for the signature of every callable; computing it each time costs more than the check.
    __signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("task", "values")])

    def __init__(self, check: Callable[[TaskAction], bool]) -> None:
        self._check = check

    def __repr__(self) -> str:
        return "its dependencies"

    def __call__(self, task: Any, values: dict[str, Any]) -> bool:
        action: TaskAction = task.actions[0]
        try:
            return self._check(action)
        except SpecError as error:
            action.error = message_of(error)
        except CodeChanged:
            action.error = CHANGED
        except OSError as error:
            action.error = reason(error)
        return False


@contextmanager
def without_traceback() -> Iterator[None]:
    """Reports CodeChanged and SpecError as InvalidCommand, which doit prints without a traceback, outside of the checks
    of tasks: `IsCurrent` does so there."""
    try:
        yield
    except SpecError as error:
        raise InvalidCommand(message_of(error)) from None
    except CodeChanged:
        raise InvalidCommand(CHANGED) from None
