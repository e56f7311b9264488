"""`doit info TASK`: doit's own, which refuses what is no task."""

from __future__ import annotations

from collections.abc import Sequence

from doit.cmd_info import Info as DoitInfo
from doit.exceptions import InvalidCommand

from pipeline.front.console.on_tasks import OnTasks
from pipeline.front.hints import unknown_task


class Info(OnTasks, DoitInfo):  # type: ignore[misc]
    """doit's command."""

    def prepare(self, words: list[str], names: Sequence[str]) -> None:
        problem = unknown_task(words[0], names) if len(words) == 1 else ""
        if problem:
            raise InvalidCommand(problem)
