"""`doit run`, said or not: doit's own, with what ends a run of gradmill's tasks, whatever reports it."""

from __future__ import annotations

from typing import Any

from doit.cmd_run import Run as DoitRun
from doit.exceptions import InvalidCommand
from doit.reporter import JsonReporter, TaskResult

from pipeline.front.console.ending import end_run, report_failures
from pipeline.front.console.on_tasks import OnTasks
from pipeline.front.effect import Effect, plainly
from pipeline.front.hints import unknown_word, without_patterns


class Run(OnTasks, DoitRun):  # type: ignore[misc]
    """doit's command. Problems are reported on standard error, in the format that is asked for."""

    def get_reporters(self) -> dict[str, Any]:
        return {**super().get_reporters(), "json": TimedJsonReporter}

    def prepare(self, words: list[str], names: list[str]) -> None:
        problem = unknown_word(words, names, self.loader.cmd_names)
        if problem:
            raise InvalidCommand(problem)
        if self.tasks is not None and any("*" in word for word in words):
            with plainly():
                members = self.tasks.members()
            # Where there are mistakes nothing matches: they are what the run is to report.
            words[:] = without_patterns(words, [*names, *members]) if members else [*self.tasks.build.analysis]

    def execute(self, params: Any, args: list[str]) -> Any:
        try:
            status = super().execute(params, args)
        except BaseException:  # Ctrl-C: what was not made is not done, and what was being made is not to be kept
            if self.tasks is not None:
                report_failures(self.tasks)
            raise
        if self.tasks is not None:
            end_run(self.tasks, self.control.selected_tasks, failed=bool(status))
        return status


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
