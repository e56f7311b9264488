"""`doit reset-dep`: refused for gradmill's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit.cmd_resetdep import ResetDep as DoitResetDep
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import OnTasks


class ResetDep(OnTasks, DoitResetDep):  # type: ignore[misc]
    """doit's command, which marks the file dependencies of tasks as unchanged."""

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        raise InvalidCommand(
            "reset-dep: gradmill compares dependencies by content: nothing can be marked as unchanged\n"
            "  gradmill explain reports what changed"
        )
