"""`gradmill clean`: deletes the files that the set generated, and keeps all others."""

from __future__ import annotations

import sys

from gradmill.cli.commands.request import Request
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError
from gradmill.session.cleaning import clean
from gradmill.session.paths import check_owners
from gradmill.session.selection import FILES, MANIFEST, names_of
from gradmill.session.session import Session


def main(request: Request) -> int:
    """Deletes generated files that are as gradmill wrote them."""
    options, kept = request.options, list[str]()
    with request.open() as session:
        check_owners(session.config)
        names = names_of(session, request.names) or [FILES, MANIFEST]
        if without := [name for name in names if name != MANIFEST and name.partition(":")[0] != FILES]:
            raise _no_files(session, without[0])
        if FILES in names:
            names = [*names, *(f"{FILES}:{name}" for name in session.file_names())]
        for name in names:
            if name != FILES:
                file = name.removeprefix(f"{FILES}:") if name != MANIFEST else ""
                deleted, left = clean(session, file, dry_run=options["dry_run"])
                kept += left
                if not options["quiet"]:
                    sys.stdout.write(lines(f"{name} - removing file '{path}'" for path in deleted))
        if not options["dry_run"]:
            session.outputs.record.prune()  # without what was deleted
    sys.stderr.write(lines(kept))
    return int(bool(kept))


def _no_files(session: Session, name: str) -> SpecError:
    """The error of a name that has no files. Which there are of a pattern is not known while the specs have errors."""
    if session.fails(session.stages.before_units()):
        return SpecError("clean: the specs have errors", f"see gradmill check; clean {FILES} deletes all files")
    return SpecError(f"clean: '{name}' has no file of its own", f"{FILES}, {FILES}:FILE and {MANIFEST} have")
