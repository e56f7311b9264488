"""`doit ignore`: doit's own, which needs the names of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit.cmd_ignore import Ignore as DoitIgnore
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import OnTasks


class Ignore(OnTasks, DoitIgnore):  # type: ignore[misc]
    """doit's command; a command line without tasks is an error."""

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        if not words:
            raise InvalidCommand("ignore: name a task\n  gradmill list --all lists the tasks")
        super().prepare(words, loaded)
