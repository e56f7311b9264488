"""What a run prints: doit's own lines, shorter.

Units that are up to date are counted, not listed; mistakes go to standard error as they are, without traceback.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from doit.reporter import ConsoleReporter

if TYPE_CHECKING:
    from pipeline.front.tasks import Tasks


def reporter_for(tasks: Tasks) -> type[Reporter]:
    """The reporter of one build's tasks: doit asks for a class."""
    return type("BuildReporter", (Reporter,), {"tasks": tasks})


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, for people who have hundreds of units."""

    desc = "console output, up-to-date units counted"
    tasks: Tasks

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        super().__init__(outstream, options)
        self._ran = 0
        self._selected: list[str] = []

    def initialize(self, tasks: Any, selected_tasks: list[str]) -> None:
        super().initialize(tasks, selected_tasks)
        self._selected = list(selected_tasks)

    def add_success(self, task: Any) -> None:
        if task.subtask_of == "emit":
            self._ran += task.actions[0].units

    def skip_uptodate(self, task: Any) -> None:
        if task.subtask_of != "emit":
            super().skip_uptodate(task)

    def execute_task(self, task: Any) -> None:
        if task.name == "emit":  # the group, when all of its units are done
            count = self.tasks.count_of_units() - self._ran
            if count > 0:
                self.write(f"-- emit: {count} units\n")
        else:
            super().execute_task(task)

    def add_failure(self, task: Any, fail: Any) -> None:
        if not fail.report:
            return
        self.failures.append({"task": task, "exception": fail})
        if fail.get_name() != "UnmetDependency":
            self.outstream.flush()
            self._say(f"{fail.message.rstrip()}\n")

    def complete_run(self) -> None:
        self.outstream.flush()
        if sys.exc_info()[0] is not None:
            return  # Ctrl-C: what was not made is not done, and what was being made is not to be kept
        warnings = self.tasks.finish(self._selected, failed=bool(self.failures or self.runtime_errors))
        if self.runtime_errors:
            warnings += "\n".join(self.runtime_errors) + "\n"
        self._say(warnings)

    def _say(self, report: str) -> None:
        """Writes a report to standard error, in colour where that is a terminal."""
        if report:
            from pipeline.problems.color import painted

            sys.stderr.write(painted(report, sys.stderr, self.tasks.build.config.format))
