"""`doit forget`: doit's own; the next run does the work of the tasks, whatever its inputs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit.cmd_forget import Forget as DoitForget

from pipeline.front.commands.bases import OnTasks


class Forget(OnTasks, DoitForget):  # type: ignore[misc]
    """doit's command, with gradmill's checks of task names and notes."""

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        self.check_notes()
