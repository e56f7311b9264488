"""`clean`: deletes the generated files that the set made, and leaves all others."""

from __future__ import annotations

import os
import sys

from pipeline.families.file import ANY
from pipeline.front.output.ownership import is_manifest, is_rule_for
from pipeline.front.run.build import Build
from pipeline.front.run.places import of_manifest
from pipeline.io.files import remove_empty
from pipeline.problems.plain import lines


def clean(build: Build, task: str, name: str, *, dryrun: bool) -> list[str]:
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
    if problem := build.outputs.refusal(path, by_head, deletes=path not in of_manifest(build)):
        return problem
    sys.stdout.write(lines([f"{task} - removing file '{path}'"]))
    try:
        if not dryrun:
            os.unlink(path)
    except OSError as error:
        return error.strerror or str(error)
    return ""
