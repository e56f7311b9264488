"""`doit clean`: deletes the generated files that the set made, and leaves all others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from doit.cmd_clean import Clean as DoitClean

from pipeline.front.commands.on_tasks import OnTasks
from pipeline.front.run.clean import Cleaner
from pipeline.problems.plain import lines


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
            self.check_notes()
