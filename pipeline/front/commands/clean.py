"""`doit clean`: deletes the files that the set generated, and keeps all others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from doit.cmd_clean import Clean as DoitClean

from pipeline.families.file import ANY
from pipeline.front.commands.bases import OnTasks
from pipeline.front.output.ownership import is_manifest, is_rule_for
from pipeline.front.run.build import Build
from pipeline.io.files import remove_empty
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
                kept = _clean(build, task.name, name, dryrun=dryrun)
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


def _clean(build: Build, task: str, name: str, *, dryrun: bool) -> list[str]:
    """Deletes the generated files called `name`, or the manifest and the list of units if it is "", and their depfiles,
    if they are as a recorded run wrote them; returns a line for each file that was not deleted."""
    paths = [each for each in _paths(build, name) if os.path.lexists(each)]
    problems = [(each, _delete(build, task, each, dryrun=dryrun)) for each in paths]
    for _ in range(name.count("/") if paths and not dryrun else 0):
        name = os.path.dirname(name)
        remove_empty(build.path(name))
    return [f"{each}: {problem}; it was not deleted" for each, problem in problems if problem]


def _paths(build: Build, name: str) -> list[str]:
    if ANY in name:
        return [build.path(each) for each in build.members(name)]
    path = build.path(name) if name else build.paths.manifest
    with_rule = not name or build.config.layout == "split"
    return [path, *([f"{path}.d"] if with_rule else []), *([] if name else [build.paths.units])]


def _delete(build: Build, task: str, path: str, *, dryrun: bool) -> str:
    """Deletes a file; returns why it was not deleted, "" if it was."""
    by_head = is_rule_for(build.paths.manifest) if path.endswith(".d") else is_manifest
    if problem := build.outputs.refusal(path, by_head, deletes=path not in build.paths.of_manifest):
        return problem
    sys.stdout.write(lines([f"{task} - removing file '{path}'"]))
    try:
        if not dryrun:
            os.unlink(path)
    except OSError as error:
        return error.strerror or str(error)
    return ""
