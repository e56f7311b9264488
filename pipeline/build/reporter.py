"""What a run prints: doit's own lines, shorter.

Nodes that are up to date are counted, not listed; mistakes go to standard error as they are, without traceback.
"""

from __future__ import annotations

import sys
from typing import Any

from doit.reporter import ConsoleReporter

from pipeline.build.tasks import current_nodes, waiting_nodes, write_stamps

MANY = 50  # Nodes that make a run long enough for a progress bar


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, for people who have hundreds of Nodes."""

    desc = "console output, up-to-date Nodes counted"

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        super().__init__(outstream, options)
        self._current = 0
        self._progress: Any = None
        self._selected: list[str] = []

    def add_success(self, task: Any) -> None:
        """Nodes of a long run on a terminal move a bar; in a log, or when they are few, each has its line."""
        if task.subtask_of != "emit":
            return
        if self._progress is None and waiting_nodes() >= MANY and self.outstream.isatty():
            from tqdm import tqdm

            self._progress = tqdm(total=waiting_nodes(), desc="emit", unit="Node", file=self.outstream, leave=False)
        if self._progress is not None:
            self._progress.update()

    def skip_uptodate(self, task: Any) -> None:
        if task.subtask_of == "emit":
            self._current += 1
        else:
            super().skip_uptodate(task)

    def execute_task(self, task: Any) -> None:
        if task.name == "emit":  # the group, when all of its Nodes are done
            if self._progress is not None:
                self._progress.close()
                self.write(f".  emit: {self._progress.n} Nodes\n")
            count = self._current + current_nodes()
            if count:
                self.write(f"-- emit: {count} Nodes\n")
        elif self._progress is None or task.subtask_of != "emit":
            super().execute_task(task)

    def _write_failure(self, result: dict[str, Any], write_exception: bool = True) -> None:
        failure = result["exception"]
        if failure.get_name() == "UnmetDependency":
            return
        self.outstream.flush()
        sys.stderr.write(f"{failure.message.rstrip()}\n")

    def initialize(self, tasks: Any, selected_tasks: list[str]) -> None:
        super().initialize(tasks, selected_tasks)
        self._selected = list(selected_tasks)

    def complete_run(self) -> None:
        if not self.failures and not self.runtime_errors:
            write_stamps(self._selected)
        if self.runtime_errors:
            self.outstream.flush()
            sys.stderr.write("\n".join(self.runtime_errors) + "\n")
