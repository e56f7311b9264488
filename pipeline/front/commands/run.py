"""`doit run`, said or not: doit's own, with what ends a run of gradmill's tasks, whatever reports it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from doit.cmd_run import Run as DoitRun
from doit.exceptions import InvalidCommand
from doit.reporter import JsonReporter, TaskResult

from pipeline.front.commands.on_tasks import OnTasks
from pipeline.front.doit.backend import Backend
from pipeline.front.doit.effect import Effect, plainly
from pipeline.front.doit.ending import end_run, report_failures
from pipeline.front.settings.hints import two_lines, unknown_word, without_patterns
from pipeline.problems.plain import line


class Run(OnTasks, DoitRun):  # type: ignore[misc]
    """doit's command. Problems are reported on standard error, in the format that is asked for."""

    def get_reporters(self) -> dict[str, Any]:
        return {**super().get_reporters(), "json": TimedJsonReporter}

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        tasks, names = self.tasks, [task.name for task in found]
        assert tasks is not None
        self.dep_manager.remove_success = _ignore  # the rows know what a task that failed has not made
        self._check_processes()
        words[:] = [tasks.named(word, names) for word in words]
        problem = unknown_word(words, names, self.loader.cmd_names)
        if problem:
            raise InvalidCommand(problem)
        if any("*" in word for word in words):
            with plainly():
                members = tasks.members()
            # Where there are mistakes nothing matches: they are what the run is to report.
            words[:] = without_patterns(words, [*names, *members]) if members else [*tasks.build.stages.analysis]

    def _check_processes(self) -> None:
        """Refuses what doit takes for no work at all, or not at all."""
        count, kind = self.given["num_process"], self.given["par_type"]
        if count < 0:
            raise InvalidCommand(
                two_lines(f"-n {count}: there is no such number of processes", "say -n 2, or leave it out")
            )
        if kind not in ("process", "thread"):
            raise InvalidCommand(two_lines(f"-P {kind}: there is no such way", "say -P process or -P thread"))

    def execute(self, params: Any, args: list[str]) -> Any:
        streams = sys.stdout, sys.stderr
        try:
            with _workers(params):
                status = super().execute(params, args)
        except BaseException as error:  # Ctrl-C: what was not made is not done, and what was being made is not kept
            sys.stdout, sys.stderr = streams  # doit's JSON reporter has its own until a run is complete
            if self.tasks is not None:
                report_failures(self.tasks)
                if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                    raise InvalidCommand(line(f"{error.filename or 'the output'}: {error.strerror}")) from None
            raise
        if self.tasks is not None:
            end_run(self.tasks, self.control.selected_tasks, failed=bool(status))
        return status


class PlainRun(Run):
    """The same for a command line of variables alone: no backend and no reporter of a plugin can be asked for."""

    def get_backends(self) -> dict[str, Any]:
        return {"gradmill": Backend}

    def get_reporters(self) -> dict[str, Any]:
        return {}


def _ignore(_: Any) -> None:
    """Of what needs no note."""


def _workers(params: Any) -> AbstractContextManager[None]:
    """What a run needs that has worker processes."""
    if not params["num_process"] or params["par_type"] != "process":
        return nullcontext()
    from pipeline.front.doit.workers import workers

    return workers()


class TimedJsonReporter(JsonReporter):  # type: ignore[misc]
    """doit's reporter. gradmill's tasks do their work when doit looks whether they are up to date: their times begin
    there."""

    def get_status(self, task: Any) -> None:
        super().get_status(task)
        if task.actions and isinstance(task.actions[0], Effect):
            self.t_results[task.name] = _Looked(task)


class _Looked(TaskResult):  # type: ignore[misc]
    """What became of a task, with the time since doit looked at it first."""

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        super().start()

    def start(self) -> None:
        """doit's clock starts here: what this one counts is almost done by then."""

    def to_dict(self) -> Any:
        if self.result is None:  # it was interrupted
            self.set_result(None)
        return super().to_dict()
