"""Brings one spec set up to date: everything, or a selection.

`Session.open` takes the lock, the snapshot of inputs and the store. `update` is the only way in which anything is
brought up to date. `save` keeps the results, and `close` ends the session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gradmill.families.file import ANY
from gradmill.io.files import Stat, put_file, remove_abandoned, stat_of
from gradmill.problems.plain import warn
from gradmill.problems.problem import SpecError
from gradmill.session import answer, record
from gradmill.session.build import Build
from gradmill.session.output.outputs import Written, identities
from gradmill.session.paths import claim_cache, own_files
from gradmill.session.problems import Problems
from gradmill.session.record import Record
from gradmill.session.roots import Root
from gradmill.session.units import At, StaleUnits

if TYPE_CHECKING:
    from gradmill.query.query import Parts
    from gradmill.stages.operator_files import Home


class Selection(Struct, frozen=True):
    """What to bring up to date. None: all stages, units or files. Files need all units, and units all stages, which the
    selection has then as well."""

    stages: Sequence[str] | None = ()
    units: Sequence[At] | None = ()
    files: Sequence[str] | None = ()  # as `file_names` has them
    manifest: bool = False


ALL_FILES = Selection(None, None, None)
MANIFEST = Selection(manifest=True)
EVERYTHING = Selection(None, None, None, manifest=True)


class Updated(Struct, frozen=True):
    """What an update did."""

    problems: Callable[[], Problems]  # of what was selected; all of them if the specs have errors
    units: tuple[At, ...] = ()  # with a rebuilt text
    files: tuple[str, ...] = ()  # that were written; with `write=False`, those that would be
    failed: bool = False  # whether the specs have errors: then no file was written


class Progress:
    """What an update tells of its progress: nothing, unless a method is overridden."""

    def doing(self, text: str) -> None:
        """What it does now."""

    def stage(self, name: str, *, current: bool) -> None:
        """A stage is done, or the manifest. `current`: it was up to date."""

    def units(self, rebuilt: Sequence[At], current: int) -> None:
        """The selected units are done. `current`: how many were up to date."""

    def file(self, name: str, changed: int, count: int) -> None:
        """The files of one name are done. `changed`: so many of them differed."""


SILENT = Progress()


class Session(Build):
    """A build that is brought up to date."""

    _names: Sequence[str] | None = None  # of the files whose places were checked

    def _forget_revision(self) -> None:
        super()._forget_revision()
        self._stale_units: list[At] | None = None
        self._stale = StaleUnits(self)
        self._prepared: Mapping[str, Home] | None = None  # the files whose places were checked
        self._current: set[str] = set()  # the names of files that are up to date
        self._has_manifest = False  # whether the manifest is, too

    # ---- updates

    def update(self, selection: Selection = EVERYTHING, *, write: bool = True, progress: Progress = SILENT) -> Updated:
        """Brings what is selected up to date, and writes files with changed bytes, none if the specs have errors. If
        the store turns out to be damaged, begins again. CodeChanged if gradmill's own code changed, SpecError as in
        `check_places`, OSError if a file cannot be written."""
        updated = self._update(selection, progress, write=write)
        return updated if self.is_sound() else self._update(selection, progress, write=write)

    def _update(self, selection: Selection, progress: Progress, *, write: bool) -> Updated:
        for stage in self.stages.analysis if selection.stages is None else selection.stages:
            progress.doing(stage)
            progress.stage(stage, current=self._update_stage(stage))
            if self.fails([self.stages.root(stage)]):
                return Updated(self.problems, failed=True)
        rebuilt: list[At] = []
        if selection.units is None or selection.units:
            from gradmill.stages.emit import text

            units = self.stale_units() if selection.units is None else selection.units
            rebuilt = self._update_units(units, progress)
            if self.fails([(text, *at) for at in units]):
                return Updated(self.problems, failed=True)
            count = self.count_of_units() if selection.units is None else len(units)
            progress.units(rebuilt, count - len(rebuilt))
        files: list[str] = []
        if selection.files is None or selection.files or selection.manifest:
            if self.problems().failed:
                return Updated(self.problems, failed=True)
            if write:
                self._prepare()
            if selection.files is None:
                self.db.expect(*self._manifest())
            for name in self.file_names() if selection.files is None else selection.files:
                progress.doing(f"shard {name}")
                files += self._update_file(name, progress, write=write)
        if selection.manifest:
            progress.doing("manifest")
            progress.stage("manifest", current=self._update_manifest(write=write))
        find = self.problems if selection.files is None else self.clean_problems
        return Updated(find, tuple(rebuilt), tuple(files))

    def is_current(self, stage: str) -> bool:
        """Whether a stage is up to date. Verifies what its root depends on. A root may be valid although a query of its
        stage ran, as that of a stage whose root is a count."""
        query, *_ = root = self.stages.root(stage)
        return self.db.is_valid(*root) and not self.db.ran_for(root, lambda row: row[0].startswith(f"{query.module}:"))

    def _update_stage(self, stage: str) -> bool:
        """Brings a stage up to date; returns whether it was."""
        query, *args = self.stages.root(stage)
        valid = self.db.is_valid(query, *args)
        self.db.digest(query, *args)
        return valid and self.is_current(stage)

    def stale_units(self) -> list[At]:
        """The units of all files with a text that has to be rebuilt, in the order in which to do so. The stages before
        are up to date and have no errors."""
        if self._stale_units is None:
            self._stale_units = self._stale.find()
        return self._stale_units

    def _update_units(self, units: Sequence[At], progress: Progress) -> list[At]:
        """Brings the texts of units up to date; returns those that were not. CodeChanged as in `OwnCode.check`."""
        from gradmill.stages.emit import text

        db, stale, rebuilt = self.db, self._stale, []
        for number, at in enumerate(units):
            progress.doing(f"emit {number + 1}/{len(units)}")
            if not db.is_valid(text, *at) or (text.name, *at) in db.ran:
                rebuilt.append(at)
            stale.update(*at)
            self.inputs.code.check()  # immediately: later changes of code belong to the next run
        stale.complete()
        return rebuilt

    def _prepare(self) -> None:
        """Before the first file is written: checks the places of all files, and removes orphans. SpecError as in
        `check_places`, and without a writable cache."""
        written = self.written_files()
        if written is self._prepared:
            return
        self.outputs.begin()
        if list(written) != self._names:
            if self.db.problem and not self._is_whole():
                raise SpecError(self.db.problem, "nothing was written; name another place: cache=DIR")
            if not self._is_as_left():
                from gradmill.session.places import check_places, remove_orphans

                check_places(self)
                remove_orphans(self)
            remove_abandoned(self.config.folder, own_files(self.config.folder))
            self._names = list(written)
        self._prepared = written

    def _is_whole(self) -> bool:
        """Whether all files have the bytes that a run would write."""
        files = (self.outputs.has_digest_at(place, self.wanted_digest(name)) for name, place in self.places().items())
        return all(files) and not self._manifest_changes()

    def _is_as_left(self) -> bool:
        """Whether there are just the files of the last run, which checked their places, as it left them."""
        last, written, config = self.record, self.outputs.record, self.config
        if last is None or not last.complete or not written.is_complete or config.build_files:
            return False
        places = self.places()
        own = {*places.values(), *(f"{places[name]}.d" for name in self.with_depfiles())}
        inputs = identities(self.inputs.spec_paths())
        if not inputs.isdisjoint(identities(self.paths.of_manifest)):
            return False
        return written.paths() <= own <= self.outputs.unchanged_since_last_run(inputs)

    def _update_file(self, name: str, progress: Progress, *, write: bool) -> Collection[str]:
        """Writes the files of one name that differ; returns them. SpecError if one may not be written, OSError if it
        cannot."""
        changed = self._changed_of_each(name) if ANY in name else self._changed(name)
        self.inputs.code.check()
        if changed and write:
            paths = {self.path(each): data for each, data in changed.items()}
            self.outputs.write(paths, partial(self._is_made_of, name))
        if write or not changed:
            self._current.add(name)
        progress.file(name, len(changed), len(self.members(name)))
        return changed

    def _is_made_of(self, name: str, head: bytes) -> bool:
        """As `is_made_of`, asked for a file that no record has."""
        from gradmill.session.places import is_made_of

        return is_made_of(self, name, head)

    def is_file_current(self, name: str) -> bool:
        """Whether the files of one name have the bytes that they should have. Verifies, and writes nothing."""
        from gradmill.stages.shard import file_digest, parts

        valid = self.db.is_valid(parts if ANY in name else file_digest, *self.layout, name)
        return valid and not self._update_file(name, SILENT, write=False)

    def _changed(self, name: str) -> dict[str, Parts]:
        """The bytes to write of a file, none if it has them."""
        from gradmill.stages.shard import contents, file_digest

        at = (*self.layout, name)
        # Used below: the database does not keep so large a value.
        data = None if self.db.is_valid(file_digest, *at) else contents(self.db, *at)
        if self.outputs.has_digest(self.path(name), self.wanted_digest(name)):
            return {}
        return {name: contents(self.db, *at) if data is None else data}

    def _changed_of_each(self, name: str) -> dict[str, Parts]:
        """The same of the files that each operator has."""
        from gradmill.query.query import Parts
        from gradmill.stages.operator_files import contents_of_each

        written, places = self.written_files(), self.places()
        stale: dict[str, list[str]] = {}
        for each in self.members(name):
            if not self.outputs.has_digest_at(places[each], written[each].digest):
                stale.setdefault(written[each].bucket, []).append(each)
        changed: dict[str, Parts] = {}
        for bucket, names in stale.items():
            contents = contents_of_each(self.db, *self.layout, name, bucket)  # the bytes are not kept
            changed.update((each, Parts([contents[each]])) for each in names)
        return changed

    def _manifest(self) -> Root:
        """The query that depends on all files."""
        from gradmill.stages.manifest import manifest

        return (manifest, *self.layout)

    def _update_manifest(self, *, write: bool) -> bool:
        """Writes what describes the files to other build systems where it differs; returns whether nothing did."""
        changes = self._manifest_changes()
        if changes and write:
            self.outputs.put(changes)
        self._has_manifest = write or not changes
        return not changes

    def _manifest_changes(self) -> dict[str, Parts]:
        """The bytes to write to the manifest, the list of units, the depfiles and the stamp, by path: only where they
        differ."""
        from gradmill.query.memo import digest_of
        from gradmill.query.query import Parts
        from gradmill.stages.manifest import unit_list, units_digest

        parts, units = self._manifest_parts(), self.paths.units
        changes = {path: data for path, data in parts.items() if not self.outputs.has_digest(path, data.digest)}
        if not self.outputs.has_digest(units, units_digest(self.db)):
            changes[units] = unit_list(self.db)
        if stamp := self.config.stamp:  # last: others compare its time
            results = digest_of(self.db.digest(*self._manifest()), units_digest(self.db))
            data = Parts([f"gradmill stamp\n{results.hex()}\n".encode()])
            changes |= {} if self.outputs.has_digest(stamp, data.digest) else {stamp: data}
        self.inputs.code.check()
        return changes

    def _manifest_parts(self) -> dict[str, Parts]:
        """The contents of the manifest and of the depfiles, by path."""
        from gradmill.stages.manifest import depfile, escaped, manifest

        place = os.path.abspath if os.path.isabs(self.config.generated) else os.path.relpath
        # Only existing files: a target with a missing dependency would never be up to date.
        split = [os.path.split(path) for path in self.inputs.read_paths()]
        folders = {at: place(at or os.curdir).rstrip(os.sep) for at in {folder for folder, _ in split}}  # few
        inputs = [name if folders[at] == os.curdir else f"{folders[at]}{os.sep}{name}" for at, name in split]
        targets, sources = [self.paths.manifest, *map(self.path, self.with_depfiles())], escaped(inputs)
        parts = {self.paths.manifest: manifest(self.db, *self.layout)}
        parts |= {f"{target}.d": depfile([target], sources) for target in targets}
        if self.config.depfile:  # for a build in another folder
            parts[self.config.depfile] = depfile(self.depfile_targets(), escaped(map(os.path.abspath, inputs)))
        if self.config.output_lists or self.config.outputs:
            from gradmill.session.cmake import lists_for_builds

            parts |= lists_for_builds(self)
        return parts

    # ---- the end

    def save(self, *, failed: bool = False) -> None:
        """Keeps the results in the cache, and records the run if all files and the manifest are up to date. Results are
        dropped if gradmill's own code changed or another run has the lock. `failed`: the update failed, and reported
        the problem of the store."""
        if not self._is_open or not self.inputs.code.is_sound() or not self._lock.try_to_take():
            return
        # Before the commit: if another process committed first, the database answers no more.
        problems = None if failed or not self.is_complete() else self.problems()
        targets = self.targets() if problems is not None else []
        outputs = self.outputs.surviving(self.inputs.moment, self.inputs.now)
        last = self.record
        if problems is not None and not self.db.ran and last == self._record(outputs):
            return  # an answer to another command line may depend on it
        reported = failed and bool(self.db.problem)
        if not self.db.problem:
            claim_cache(self.config)  # first: what else is in the folder counts as one of others until then
        ran, kept = bool(self.db.ran), self.db.commit()
        whole = problems is not None and kept and outputs.keys() >= set(targets)
        if problems is not None:
            self._complete_folder(outputs)
        # Each run reports the remaining files.
        self.record = replace(self._record(outputs), complete=whole and not self.outputs.remaining)
        problem = (not kept and self.db.problem) or record.save(self.paths.record, self.record)
        self._saved = None if problem else stat_of(self.paths.record)
        if problem and self.writes and ran and not reported:  # otherwise nothing is lost
            warn(f"{problem}; nothing of this run is kept in the cache")

    def _record(self, outputs: Mapping[str, Written]) -> Record:
        """The record of a complete run."""
        kept = (self.store, self.outputs.record.path)
        stats: dict[str, Stat | None] = self.inputs.evidence() | {path: stat_of(path) for path in kept}
        read = {path: stat for path, stat in stats.items() if path not in outputs}
        return Record(read, dict(outputs), complete=True, code=self.inputs.code.note)

    def save_if_first(self) -> None:
        """Keeps the results of a command that only reads, unless the cache has a complete run: `explain` compares with
        it."""
        if self.record is None or not self.record.complete:
            self.save()

    def is_complete(self) -> bool:
        """Whether this session has brought all files and the manifest up to date."""
        from gradmill.stages.arrangement import files
        from gradmill.stages.shard import file_digest, parts

        db, at = self.db, self.layout
        if not self._has_manifest or not db.is_clean(files, *at):
            return False
        names = self.file_names()
        clean = all(db.is_clean(parts if ANY in name else file_digest, *at, name) for name in names)
        return clean and self._current.issuperset(names)

    def is_recorded(self) -> bool:
        """Whether the last run of this configuration was complete, and left the manifest as it should be."""
        self._has_manifest = not self._manifest_changes()
        return self._has_manifest and self.record is not None and self.record.complete

    def keep_answer(self, command: bytes, out: bytes, error: bytes, more: Mapping[str, Stat | None]) -> None:
        """Keeps the answer to a command line, unless another run replaced the record of this one. `more`: stats of more
        files on which it depends."""
        if self.record is not None and self._lock.try_to_take() and stat_of(self.paths.record) == self._saved:
            stats = {**self.record.files(), self.paths.record: self._saved, **more}
            with suppress(OSError):  # without an answer, the next run finds out
                put_file(self.paths.answer, answer.file_of(command, out, error, stats))

    def _complete_folder(self, outputs: Mapping[str, Written]) -> None:
        """Completes the record of the output folder at the end of a complete run, which left the files `outputs`."""
        digests, remaining = {path: written.digest for path, written in outputs.items()}, self.outputs.remaining
        if self.paths.written:  # other builds wrote to the tree, too
            last = self.outputs.record
            others = (path for path in last.paths() if path not in outputs and os.path.lexists(path))
            remaining = {path: last.digests_of(path) for path in others}
        self.outputs.record.complete(self.config.specs.owner, digests, remaining)
