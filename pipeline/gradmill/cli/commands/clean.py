"""`gradmill clean`: deletes the files that the set generated, and keeps all others."""

from __future__ import annotations

import sys

from gradmill.cli.commands.request import Request
from gradmill.problems.plain import lines
from gradmill.session.cleaning import clean
from gradmill.session.paths import check_owners
from gradmill.session.selection import FILES, MANIFEST, names_of


def main(request: Request) -> int:
    """Deletes generated files that are as gradmill wrote them."""
    options, kept = request.options, list[str]()
    with request.open() as session:
        check_owners(session.config)
        names = names_of(session, request.names) or [FILES, MANIFEST]
        if FILES in names:
            names = [*names, *(f"{FILES}:{name}" for name in session.file_names())]
        for name in names:
            if name == MANIFEST or name.startswith(f"{FILES}:"):
                file = name.removeprefix(FILES).removeprefix(":") if name != MANIFEST else ""
                deleted, left = clean(session, file, dry_run=options["dry_run"])
                kept += left
                if not options["quiet"]:
                    sys.stdout.write(lines(f"{name} - removing file '{path}'" for path in deleted))
        if not options["dry_run"]:
            session.outputs.record.prune()  # without what was deleted
    sys.stderr.write(lines(kept))
    return int(bool(kept))
