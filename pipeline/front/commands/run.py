"""`doit run`, also as the default command: doit's own, which also ends a run of gradmill's tasks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from doit.cmd_run import Run as DoitRun
from doit.exceptions import InvalidCommand
from doit.reporter import JsonReporter, TaskResult

from pipeline.front.commands.bases import OWN_NAME, OnTasks
from pipeline.front.doit.backend import Backend
from pipeline.front.settings.hints import two_lines, unknown_word, without_patterns
from pipeline.problems.plain import line


class Run(OnTasks, DoitRun):  # type: ignore[misc]
    """doit's command. Reports problems on standard error, in the requested format."""

    @property
    def task_options(self) -> bool:  # type: ignore[override]
        """doit's own tasks may have options; gradmill's have none."""
        return bool(self.bin_name != OWN_NAME)

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        from pipeline.front.doit.loader import without_traceback

        self.reporters["json"] = TimedJsonReporter
        tasks, names = self.tasks, [task.name for task in loaded]
        assert tasks is not None
        self.dep_manager.remove_success = _ignore  # the rows show that a failed task has to run again
        self._check_processes()
        words[:] = [tasks.named(word, names) for word in words]
        problem = unknown_word(words, names, self.loader.cmd_names)
        if problem:
            raise InvalidCommand(problem)
        if any("*" in word for word in words):
            with without_traceback():
                members = tasks.members()
            # If the specs have errors, no name is known: run the stages, which report them.
            words[:] = without_patterns(words, [*names, *members]) if members else [*tasks.build.stages.analysis]

    def _check_processes(self) -> None:
        """Raises InvalidCommand for values of -n and -P with which doit would fail. A run has one process, which alone
        has the database, whatever these say."""
        count, kind = self.options["num_process"], self.options["par_type"]
        if count < 0:
            raise InvalidCommand(two_lines(f"-n {count}: not a number of processes", "pass -n 2, or leave it out"))
        if kind not in ("process", "thread"):
            raise InvalidCommand(two_lines(f"-P {kind}: unknown kind of worker", "pass -P process or -P thread"))
        self.options["num_process"] = 0

    def execute(self, params: Any, args: list[str]) -> Any:
        streams = sys.stdout, sys.stderr
        try:
            status = super().execute(params, args)
        except BaseException as error:  # Ctrl-C, too: results of unfinished tasks are dropped
            sys.stdout, sys.stderr = streams  # doit's JSON reporter replaces them until a run is complete
            if self.tasks is not None:
                self.tasks.report_failures()
                if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                    raise InvalidCommand(line(f"{error.filename or 'the output'}: {error.strerror}")) from None
            raise
        if self.tasks is not None:
            self.tasks.end(self.control.selected_tasks, failed=bool(status))
        return status


class PlainRun(Run):
    """`Run` for a command line of variables alone, which cannot select a plugin's backend or reporter."""

    def get_backends(self) -> dict[str, Any]:
        return {"gradmill": Backend}

    def get_reporters(self) -> dict[str, Any]:
        return {}


def _ignore(_: Any) -> None:
    """Does nothing: gradmill's rows record the state of a task."""


class TimedJsonReporter(JsonReporter):  # type: ignore[misc]
    """doit's JSON reporter. gradmill's tasks work during doit's up-to-date check, so their times start there."""

    def get_status(self, task: Any) -> None:
        from pipeline.front.doit.tasks import TaskAction

        super().get_status(task)
        if task.actions and isinstance(task.actions[0], TaskAction):
            self.t_results[task.name] = _Checked(task)


class _Checked(TaskResult):  # type: ignore[misc]
    """The result of a task; its time starts at doit's up-to-date check."""

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        super().start()

    def start(self) -> None:
        """Ignores doit's later start of the clock: by then the work is almost done."""

    def to_dict(self) -> Any:
        if self.result is None:  # it was interrupted
            self.set_result(None)
        return super().to_dict()
