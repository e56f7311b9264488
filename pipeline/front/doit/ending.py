"""What ends a run: its problems are reported on standard error, what it found is kept, its stamp is written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import Tasks


def end_run(tasks: Tasks, selected: Sequence[str], *, failed: bool) -> None:
    """Ends a run of the tasks that were selected. `failed`: not all of them succeeded."""
    report_failures(tasks)
    _say(tasks, tasks.finish(selected, failed=failed))


def report_failures(tasks: Tasks) -> None:
    """Reports why tasks failed, where some did."""
    _say(tasks, tasks.failures())


def _say(tasks: Tasks, report: str) -> None:
    """Writes a report to standard error, in colour where that is a terminal."""
    if report:
        from pipeline.problems.color import painted

        sys.stderr.write(painted(report, sys.stderr, tasks.build.config.format))
