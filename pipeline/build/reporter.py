"""What a run prints: doit's own lines, shorter.

Nodes that are up to date are counted, not listed; mistakes go to standard error as they are, without traceback.
"""

from __future__ import annotations

import sys
from typing import Any

from doit.reporter import ConsoleReporter

from pipeline.build.tasks import current_nodes


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, for people who have hundreds of Nodes."""

    desc = "console output, up-to-date Nodes counted"

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        super().__init__(outstream, options)
        self._current = 0

    def skip_uptodate(self, task: Any) -> None:
        if task.subtask_of == "emit":
            self._current += 1
        else:
            super().skip_uptodate(task)

    def execute_task(self, task: Any) -> None:
        if task.name == "emit":  # the group, when all of its Nodes are done
            count = self._current + current_nodes()
            if count:
                self.write(f"-- emit: {count} Nodes\n")
        else:
            super().execute_task(task)

    def _write_failure(self, result: dict[str, Any], write_exception: bool = True) -> None:
        failure = result["exception"]
        if failure.get_name() == "UnmetDependency":
            return
        self.outstream.flush()
        sys.stderr.write(f"{failure.message.rstrip()}\n")

    def complete_run(self) -> None:
        if self.runtime_errors:
            self.outstream.flush()
            sys.stderr.write("\n".join(self.runtime_errors) + "\n")
