"""Deletes generated files, if they are as a recorded run wrote them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gradmill.families.file import ANY
from gradmill.io.files import remove_empty
from gradmill.session.output.outputs import is_manifest, is_rule_for
from gradmill.session.session import Session


def clean(session: Session, name: str, *, dry_run: bool) -> tuple[list[str], list[str]]:
    """Deletes the generated files called `name`, or the manifest and the list of units if it is "", and their depfiles.
    Returns the paths of these, and a line for each file that was not deleted. `dry_run`: deletes nothing."""
    paths = [each for each in _paths(session, name) if os.path.lexists(each)]
    problems = {path: _delete(session, path, dry_run=dry_run) for path in paths}
    for _ in range(name.count("/") if paths and not dry_run else 0):
        name = os.path.dirname(name)
        remove_empty(session.path(name))
    kept = [f"{path}: {problem}; it was not deleted" for path, problem in problems.items() if problem]
    return [path for path, problem in problems.items() if not problem], kept


def _paths(session: Session, name: str) -> Sequence[str]:
    if ANY in name:
        return [session.path(each) for each in session.members(name)]
    path = session.path(name) if name else session.paths.manifest
    with_rule = not name or session.config.layout == "split"
    return [path, *([f"{path}.d"] if with_rule else []), *([] if name else [session.paths.units])]


def _delete(session: Session, path: str, *, dry_run: bool) -> str:
    """Deletes a file; returns why it was not deleted, "" if it was."""
    by_head = is_rule_for(session.paths.manifest) if path.endswith(".d") else is_manifest
    if problem := session.outputs.refusal(path, by_head, deletes=path not in session.paths.of_manifest):
        return problem
    try:
        if not dry_run:
            os.unlink(path)
    except OSError as error:
        return error.strerror or str(error)
    return ""
