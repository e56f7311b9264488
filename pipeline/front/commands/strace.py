"""`doit strace`: refused for gradmill's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit.cmd_strace import Strace as DoitStrace
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import OnTasks
from pipeline.problems.plain import line


class Strace(OnTasks, DoitStrace):  # type: ignore[misc]
    """doit's command, which traces the commands that a task starts."""

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        raise InvalidCommand(
            "strace: gradmill's tasks start no commands that could be traced\n  "
            + line(f"gradmill explain {words[0]} reports its dependencies")
        )
