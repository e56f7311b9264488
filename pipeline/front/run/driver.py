"""Brings the results of one build up to date: stages, units, files, the manifest. It runs what it is asked for, and
nothing else.

doit's tasks ask for one result each. `update` and `save` bring everything up to date, for a process that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline.families.file import ANY
from pipeline.front.run.build import Build
from pipeline.front.run.contents import At
from pipeline.front.run.orphans import remove_orphans
from pipeline.front.run.places import check_places, is_made_of, manifest_changes
from pipeline.front.run.problems import Problems, all_problems, fails
from pipeline.front.run.roots import Root
from pipeline.front.run.stale import StaleUnits
from pipeline.query.query import Parts

if TYPE_CHECKING:
    from pipeline.stages.operator_files import Home


class Updated(Struct, frozen=True):
    """What one pass did."""

    units: tuple[At, ...]  # with a rebuilt text
    files: tuple[str, ...]  # that were written
    problems: Problems
    changed: bool  # whether the report changed, or any query ran

    @property
    def failed(self) -> bool:
        """Whether the specs have errors: then no file was written."""
        return self.problems.failed


class Driver:
    """One build, brought up to date."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self._names: Sequence[str] | None = None  # of the files with checked places
        self._prepared: Mapping[str, Home] | None = None  # the same, of this revision
        self._problems: Problems | None = None  # of all stages, in this revision
        self._stale = StaleUnits(build)
        self._current: set[str] = set()  # the names of files that are up to date, in this revision
        self._has_manifest = False  # whether the manifest is, too

    # ---- problems

    @property
    def problems(self) -> Problems:
        """All problems of the build, computed once in each revision. CodeChanged as in `OwnCode.check`."""
        if self._problems is None:
            self._problems = self.build.problems()
        return self._problems

    def failure(self, roots: Sequence[Root]) -> Problems | None:
        """All problems, if the rows under `roots` have an error."""
        config = self.build.config
        return self.problems if fails(config, all_problems(config, self.build.db, roots)) else None

    @property
    def stops(self) -> bool:
        """Whether the specs have errors that stop a run before the units."""
        return self.failure(self.build.stages.before_units()) is not None

    # ---- stages and units

    def update_stage(self, stage: str) -> bool:
        """Brings a stage up to date; returns whether it was."""
        db, root = self.build.db, self.build.stages.root(stage)
        current = db.is_valid(*root)
        db.digest(*root)
        return current and not db.ran_for(root, lambda row: row[0].startswith(f"{stage}:"))

    def stale_units(self) -> list[At]:
        """The units of all files with a text that has to be rebuilt, in the order in which to do so."""
        return self._stale.find()

    def update_units(self, units: Iterable[At], show: Callable[[int], object] = lambda number: None) -> bool:
        """Brings the texts of units up to date; returns whether they were. `show` gets the number of those done.
        CodeChanged as in `OwnCode.check`."""
        from pipeline.stages.emit import text

        db, current = self.build.db, True
        for number, at in enumerate(units):
            show(number)
            current = current and db.is_valid(text, *at) and (text.name, *at) not in db.ran
            self._stale.update(*at)
            self.build.inputs.code.check()  # immediately: later changes of code belong to the next run
        self._stale.complete()
        return current

    # ---- files

    def new_contents(self, name: str) -> dict[str, Parts]:
        """What to write of the files of one name: the bytes of each whose contents differ."""
        changed = self._new_of_each(name) if ANY in name else self._new_of_one(name)
        self.build.inputs.code.check()
        if not changed:
            self._current.add(name)
        return changed

    def _new_of_one(self, name: str) -> dict[str, Parts]:
        from pipeline.stages.shard import contents, made

        build, at = self.build, (*self.build.layout, name)
        # Used below: the database does not keep so large a value.
        data = None if build.db.is_valid(made, *at) else contents(build.db, *at)
        if build.outputs.has_digest(build.path(name), build.wanted_digest(name)):
            return {}
        return {name: contents(build.db, *at) if data is None else data}

    def _new_of_each(self, name: str) -> dict[str, Parts]:
        from pipeline.stages.operator_files import contents_of_each

        build = self.build
        written, places = build.written_files(), build.places()
        stale: dict[str, list[str]] = {}
        for each in build.members(name):
            if not build.outputs.has_digest_at(places[each], written[each].digest):
                stale.setdefault(written[each].bucket, []).append(each)
        changed: dict[str, Parts] = {}
        for bucket, names in stale.items():
            contents = contents_of_each(build.db, *build.layout, name, bucket)  # the bytes are not kept
            changed.update((each, Parts([contents[each]])) for each in names)
        return changed

    def prepare(self) -> None:
        """Before the first file is written: checks the places of all files, and removes orphans. SpecError as in
        `check_places`."""
        written = self.build.written_files()
        if written is self._prepared:
            return
        self.build.outputs.begin()
        names = list(written)
        if names != self._names:
            check_places(self.build)
            remove_orphans(self.build)
            self._names = names
        self._prepared = written

    def write(self, name: str, changed: dict[str, Parts]) -> None:
        """Writes the files of one name. SpecError if one may not be written, OSError if it cannot."""
        paths = {self.build.path(each): data for each, data in changed.items()}
        self.build.outputs.write(paths, partial(is_made_of, self.build, name))
        self._current.add(name)

    def manifest_changes(self) -> dict[str, Parts]:
        """The files to write of the manifest, the list of units and the depfiles: the bytes of each by its path."""
        changes = manifest_changes(self.build)
        self._has_manifest = not changes
        return changes

    def write_manifest(self, changes: dict[str, Parts]) -> None:
        """Writes these files. OSError if one cannot be written."""
        self.build.outputs.put(changes)
        self._has_manifest = True

    # ---- the end

    def finish(self, *, complete: bool, failed: bool) -> Problems | None:
        """Commits the results of a run; returns its problems, None if it failed. `complete`: as `is_complete` says."""
        build = self.build
        if complete or failed:
            problems = self.problems if complete else None
            build.commit(problems, failed=failed)
            return problems
        problems = build.problems_of([root for root in build.stages.roots() if build.db.is_clean(*root)])
        build.commit()
        return problems

    def is_complete(self) -> bool:
        """Whether all files and the manifest are up to date. A file that this run did not ask for is not."""
        from pipeline.stages.arrangement import files
        from pipeline.stages.shard import made, parts

        build = self.build
        db, at = build.db, build.layout
        if not self._has_manifest or not db.is_clean(files, *at):
            return False
        names = build.file_names()
        clean = all(db.is_clean(parts if ANY in name else made, *at, name) for name in names)
        return clean and self._current.issuperset(names)

    # ---- everything, again and again

    def update(self, *, refresh: bool = True) -> Updated:
        """Brings everything up to date, and writes the files with changed bytes; none if the specs have errors.
        `refresh`: takes a snapshot of the inputs first. If the store turns out to be damaged, begins with the first
        file again. CodeChanged as in `Build.refresh`, SpecError as in `check_places`."""
        before = self._problems.report if self._problems is not None else None
        self.build.lock()
        if refresh:
            self.build.refresh()
        updated = self._update(before)
        return updated if self.build.is_sound() else self._update(before)

    def _update(self, before: str | None) -> Updated:
        self._problems, self._stale, self._prepared = None, StaleUnits(self.build), None
        self._current, self._has_manifest = set(), False
        rebuilt: list[At] = []
        if not self.stops:
            rebuilt = self.stale_units()
            self.update_units(rebuilt)
        problems = self.problems
        changed = problems.report != before or bool(self.build.db.ran)  # the report is of this revision: read it now
        if problems.failed:
            return Updated((), (), problems, changed)
        self.prepare()
        return Updated(tuple(rebuilt), self._write_files(), problems, changed)

    def _write_files(self) -> tuple[str, ...]:
        written: list[str] = []
        for name in self.build.file_names():
            changed = self.new_contents(name)
            if changed:
                self.write(name, changed)
                written += changed
        return tuple(written)

    def save(self) -> None:
        """Writes the manifest, and commits the results of the pass. Not part of `update`: no caller waits for it."""
        if not self.problems.failed:
            self.write_manifest(self.manifest_changes())
        self.build.commit(None if self.problems.failed else self.problems)
