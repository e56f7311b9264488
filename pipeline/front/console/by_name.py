"""doit's commands that look tasks up by name: of gradmill's tasks they take patterns, and refuse what names none."""

from __future__ import annotations

from typing import Any

from doit.cmd_clean import Clean as DoitClean
from doit.cmd_forget import Forget as DoitForget
from doit.cmd_ignore import Ignore as DoitIgnore
from doit.cmd_info import Info as DoitInfo
from doit.cmd_resetdep import ResetDep as DoitResetDep
from doit.cmd_strace import Strace as DoitStrace
from doit.exceptions import InvalidCommand

from pipeline.front.console.on_tasks import OnTasks


class Clean(OnTasks, DoitClean):  # type: ignore[misc]
    """doit's command."""


class Forget(OnTasks, DoitForget):  # type: ignore[misc]
    """doit's command."""

    def execute(self, params: Any, args: list[str]) -> Any:
        self._backend = params["backend"]
        return super().execute(params, args)


class Ignore(OnTasks, DoitIgnore):  # type: ignore[misc]
    """doit's command."""

    def prepare(self, words: list[str], names: list[str]) -> None:
        if not words:
            raise InvalidCommand("ignore: name a task\n  doit list --all lists the tasks")
        super().prepare(words, names)


class Info(OnTasks, DoitInfo):  # type: ignore[misc]
    """doit's command."""


class ResetDep(OnTasks, DoitResetDep):  # type: ignore[misc]
    """doit's command."""


class Strace(OnTasks, DoitStrace):  # type: ignore[misc]
    """doit's command, which traces the commands that a task starts."""

    def prepare(self, words: list[str], names: list[str]) -> None:
        raise InvalidCommand(
            "strace: gradmill's tasks start no commands that could be traced\n"
            f"  doit explain {words[0]} reports what it is made from, and the manifest has every input of every file"
        )
