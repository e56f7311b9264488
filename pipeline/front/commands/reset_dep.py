"""`doit reset-dep`: refused for gradmill's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit.cmd_resetdep import ResetDep as DoitResetDep
from doit.exceptions import InvalidCommand

from pipeline.front.commands.on_tasks import OnTasks


class ResetDep(OnTasks, DoitResetDep):  # type: ignore[misc]
    """doit's command, which takes the files that tasks depend on for unchanged."""

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        super().prepare(words, found)
        raise InvalidCommand(
            "reset-dep: gradmill compares what tasks are made from by content: nothing can be taken for unchanged\n"
            "  doit explain reports what changed"
        )
