"""The end of a run: reports its problems on standard error, commits its results, writes its stamp."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import Tasks


def end_run(tasks: Tasks, selected: Sequence[str], *, failed: bool) -> None:
    """Ends a run of the `selected` tasks. `failed`: not all of them succeeded."""
    report_failures(tasks)
    _report(tasks, tasks.finish(selected, failed=failed))


def report_failures(tasks: Tasks) -> None:
    """Reports the errors of failed tasks, if any."""
    _report(tasks, tasks.failures())


def _report(tasks: Tasks, report: str) -> None:
    """Writes a report to standard error, in colour if that is a terminal."""
    if report:
        from pipeline.problems.color import painted

        sys.stderr.write(painted(report, sys.stderr, tasks.build.config.format))
