"""doit's commands that look tasks up by name: of gradmill's tasks they take patterns, and refuse what names none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from doit.cmd_clean import Clean as DoitClean
from doit.cmd_forget import Forget as DoitForget
from doit.cmd_ignore import Ignore as DoitIgnore
from doit.cmd_resetdep import ResetDep as DoitResetDep
from doit.cmd_strace import Strace as DoitStrace
from doit.exceptions import InvalidCommand

from pipeline.front.backend import OTHERS
from pipeline.front.console.on_tasks import OnTasks
from pipeline.front.run.clean import Cleaner
from pipeline.problems.plain import line, lines


class Clean(OnTasks, DoitClean):  # type: ignore[misc]
    """doit's command; of gradmill's tasks the files that are known as gradmill's are deleted."""

    doc_description = (
        "Deletes the generated files of the selected tasks, of all where none is named, and the manifest. A file that"
        " gradmill did not make, a link or an input stays and is named; the exit status is 1 then."
    )

    def execute(self, params: Any, args: list[str]) -> int:
        self._kept = 0
        return int(super().execute(params, args) or 0) or (1 if self._kept else 0)

    def clean_tasks(self, tasks: Iterable[Any], dryrun: bool, cleanforget: bool) -> None:
        """Deletes the files of tasks; those of tasks that are not gradmill's as these say."""
        cleaner = Cleaner(self.tasks.build) if self.tasks is not None else None
        for task in {task.name: task for task in tasks}.values():
            group, _, name = task.name.partition(":")
            if cleaner is not None and (group == "manifest" or (group == "shard" and name)):
                kept = cleaner.clean(task.name, name, dryrun=dryrun)
                sys.stderr.write(lines(kept))
                self._kept += len(kept)
            else:
                task.clean(self.outstream, dryrun)
            if cleanforget and not dryrun:
                self.dep_manager.remove(task.name)
        self.dep_manager.close()

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        super().prepare(words, found)
        if self.given["cleanforget"]:
            _check_notes(self)


class Forget(OnTasks, DoitForget):  # type: ignore[misc]
    """doit's command."""

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        super().prepare(words, found)
        _check_notes(self)


class Ignore(OnTasks, DoitIgnore):  # type: ignore[misc]
    """doit's command."""

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        if not words:
            raise InvalidCommand("ignore: name a task\n  doit list --all lists the tasks")
        super().prepare(words, found)


class ResetDep(OnTasks, DoitResetDep):  # type: ignore[misc]
    """doit's command, which takes the files that tasks depend on for unchanged."""

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        super().prepare(words, found)
        raise InvalidCommand(
            "reset-dep: gradmill compares what tasks are made from by content: nothing can be taken for unchanged\n"
            "  doit explain reports what changed"
        )


class Strace(OnTasks, DoitStrace):  # type: ignore[misc]
    """doit's command, which traces the commands that a task starts."""

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        super().prepare(words, found)
        raise InvalidCommand(
            "strace: gradmill's tasks start no commands that could be traced\n  "
            + line(f"doit explain {words[0]} reports what it is made from")
        )


def _check_notes(command: OnTasks) -> None:
    """Refuses to note what is to be forgotten where no run looks."""
    assert command.tasks is not None
    place, given = command.tasks.build.notes_path, command.given
    if given["backend"] != "gradmill" or os.path.abspath(given["dep_file"]) != os.path.abspath(place + OTHERS):
        raise InvalidCommand(
            line(f"runs look in {place} for what is to be forgotten") + "\n  leave out --backend and --db-file"
        )
