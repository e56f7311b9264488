"""A build that remains in memory: brings everything up to date repeatedly, without doit.

It leaves what a run of doit would leave, so a later run has nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pipeline.front.run.build import Build
from pipeline.front.run.contents import units
from pipeline.front.run.orphans import remove_orphans
from pipeline.front.run.places import check_places, write_files, write_manifest
from pipeline.front.run.problems import Problems
from pipeline.query.explain import changes

BUDGET = 64_000_000  # the memory budget of values, in bytes: enough for what the next edit needs


class Updated(Struct, frozen=True):
    """What one pass did."""

    units: tuple[str, ...]  # with a rebuilt text
    files: tuple[str, ...]  # that were written
    report: str  # errors and warnings
    failed: bool
    changed: bool  # whether the report changed, or any query ran


class Resident:
    """One build, kept up to date."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._names: Sequence[str] = []  # of the files with checked places
        self._problems: Problems | None = None  # of the last pass
        build.budget, build.writes = BUDGET, True
        self.format = build.config.format  # of the reports
        build.nothing_changed = False  # true only for the start

    def update(self, *, refresh: bool = True) -> Updated:
        """Brings all up to date, and writes the files with changed bytes; none if the specs have errors. `refresh`:
        takes a snapshot of the inputs first. CodeChanged as in `Build.refresh`, SpecError as in `check_places`."""
        build = self._build
        build.lock()
        if refresh:
            build.refresh()
        problems = build.problems()
        changed = bool(build.db.ran) or self._problems is None or problems.report != self._problems.report
        rebuilt: tuple[str, ...] = ()
        written: list[str] = []
        if not problems.failed:
            self._check()
            rebuilt, written = tuple(self._replaced()), write_files(build)
        self._problems = problems
        return Updated(rebuilt, tuple(written), problems.report, problems.failed, changed)

    def _check(self) -> None:
        """Checks the output places, if the names of the files changed."""
        build = self._build
        names = build.file_names()
        if names != self._names:
            check_places(build)
            remove_orphans(build)
            self._names = names

    def _replaced(self) -> list[str]:
        """The titles of the units with a text that was rebuilt in this revision."""
        from pipeline.stages.emit import text

        db = self._build.db
        return [
            title for title, (family, unit) in units(db).items() if changes(db, (text.name, family, unit.name)) != []
        ]

    def save(self) -> None:
        """Writes the manifest, and commits the results of the pass. Not part of `update`: no caller waits for it."""
        problems = self._problems
        if problems is not None and not problems.failed:
            write_manifest(self._build)
        if problems is not None:
            self._build.commit(problems, complete=not problems.failed)

    def rest(self) -> None:
        """Releases the lock until the next pass, so that other runs can write."""
        self._build.unlock()
