"""`doit clean`: deletes the files that the set generated, and keeps all others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from doit.cmd_clean import Clean as DoitClean

from pipeline.front.commands.on_tasks import OnTasks
from pipeline.front.run.clean import clean
from pipeline.problems.plain import lines


class Clean(OnTasks, DoitClean):  # type: ignore[misc]
    """doit's command. For gradmill's tasks it deletes only files that gradmill wrote."""

    doc_description = (
        "Deletes the manifest and the generated files of the selected tasks, or of all tasks if none is named. A file"
        " that gradmill did not write, a link or an input is kept and reported; the exit status is then 1."
    )

    def execute(self, params: Any, args: list[str]) -> int:
        self._kept = 0
        return int(super().execute(params, args) or 0) or (1 if self._kept else 0)

    def clean_tasks(self, tasks: Iterable[Any], dryrun: bool, cleanforget: bool) -> None:
        """Deletes the files of gradmill's tasks; other tasks clean up as they define. `dryrun` only prints."""
        build = self.tasks.build if self.tasks is not None else None
        for task in {task.name: task for task in tasks}.values():
            group, _, name = task.name.partition(":")
            if build is not None and (group == "manifest" or (group == "shard" and name)):
                kept = clean(build, task.name, name, dryrun=dryrun)
                sys.stderr.write(lines(kept))
                self._kept += len(kept)
            else:
                task.clean(self.outstream, dryrun)
            if cleanforget and not dryrun:
                self.dep_manager.remove(task.name)
        if build is not None and not dryrun:
            build.outputs.record.prune()  # without what was deleted
        self.dep_manager.close()

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        if self.options["cleanforget"]:
            self.check_notes()
