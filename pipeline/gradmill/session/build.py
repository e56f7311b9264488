"""One spec set in one process: its inputs, its database, its output."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from gradmill.families.file import ANY
from gradmill.io.files import UNSETTLED, Stat, files_in, is_file, remove_empty, stat_of
from gradmill.io.stats import unchanged
from gradmill.problems.plain import warn
from gradmill.problems.problem import SpecError
from gradmill.session import record
from gradmill.session.inputs import Inputs
from gradmill.session.output.folder_record import FolderRecord
from gradmill.session.output.outputs import Outputs
from gradmill.session.own_code import CodeChanged
from gradmill.session.paths import RECORD, Paths, check_claims, check_files, paths_of
from gradmill.session.problems import Problems, all_problems, fails
from gradmill.session.record import Lock, Record
from gradmill.session.roots import Root, Stages, find_query
from gradmill.session.settings.config import Config

if TYPE_CHECKING:
    from gradmill.query.database import Database
    from gradmill.query.memo import Input
    from gradmill.query.store import Store
    from gradmill.stages.operator_files import Home

BUDGET = 64_000_000  # bytes of values that a build that stays in memory keeps: enough for what the next edit needs
_FIRST = 3_000_000  # of a first one, which uses most values once


class Build:
    """A spec set and its generated files. `writes`: whether it writes to the cache, and so takes the lock; `budget`:
    the bytes of values that it keeps if it stays in memory, 0 for one run; `memory`: a store in place of the one on
    the disk. `open` or `begin` opens it."""

    db: Database  # in the revision of the last snapshot
    store: str  # its path, which is of the running code alone
    record: Record | None  # of the last run of this configuration
    outputs: Outputs

    def __init__(
        self,
        config: Config,
        paths: Paths | None = None,
        inputs: Inputs | None = None,
        *,
        writes: bool = False,
        budget: int = 0,
        memory: Store | None = None,
    ) -> None:
        self.config = config
        self.writes = writes
        self.paths = paths or paths_of(config)
        self.stages = Stages(config)
        self.inputs = inputs or Inputs(config)
        self.layout = config.arrangement
        self._budget, self._memory = budget, memory
        self._lock = Lock(self.paths.lock)
        self._is_open = False
        self._forget_revision()

    @classmethod
    def open(cls, config: Config, *, writes: bool = False, budget: int = 0) -> Self:
        """An open build. CodeChanged as in `OwnCode.take`, SpecError if there are files of others in its place."""
        return cls(config, writes=writes, budget=budget).begin()

    def begin(self) -> Self:
        """Takes the lock if this build writes, a snapshot of the inputs, and the store; returns the build. Errors
        as of `open`."""
        try:
            if self._memory is None:
                self._check_folders()
            self._load()
            self.lock()
            code, last = self.inputs.code, self.record
            if not code.digest:
                self.stages.load()
            inputs = self.inputs.take(*((last.stats, last.code) if last is not None else ({},)))
            self.store = self.paths.store(code.digest)
            if self.writes and not is_file(self.store):
                from gradmill.session.collect import remove_stores

                remove_stores(self.paths.cache, keep=1)  # those of other code, but the last one
            self.db = self._open_store(inputs)
            self._is_open = True
        except BaseException:
            self.unlock()
            raise
        return self

    def _load(self) -> None:
        self._saved = stat_of(self.paths.record)
        self.record = record.load(self.paths.record)
        known = self.record.outputs if self.record is not None else {}
        others = (*(path for _, path in self.config.build_files), *self.paths.of_manifest)
        record_of_folder = FolderRecord(self.paths.generated, self.paths.written, others)
        self.outputs = Outputs(known, self.inputs.spec_paths, record_of_folder)

    def _open_store(self, inputs: Mapping[str, Input]) -> Database:
        """The database of the store, in its first revision."""
        from gradmill.query.database import Database
        from gradmill.stages.set import CODE
        from gradmill.store.sqlite import SqliteStore

        store = self._memory or SqliteStore(self.store, self._noted(), writes=self.writes)
        budget = self._budget if is_file(self.store) else _FIRST
        db = Database(store, find_query, budget, warn, CODE, (SpecError,))
        db.begin(inputs)
        return db

    def _check_folders(self) -> None:
        """SpecError if there are files of others in the place of this build's."""
        check_claims(self.config) if self.writes else check_files(self.config.folder)

    def _noted(self) -> Stat | None:
        """The stat of the store that the last run noted, of whatever configuration."""
        records = [path for path in files_in(self.paths.cache) if os.path.basename(path).startswith(RECORD)]
        last = max(records, key=lambda path: (stat_of(path) or UNSETTLED).mtime_ns, default="")
        noted = self.record if last == self.paths.record else record.load(last)
        return noted.stats.get(self.store) if noted is not None else None

    def lock(self) -> None:
        """Takes the lock, if this build writes. After waiting for another run, its record is loaded, and its set may
        have the folders."""
        if self.writes:
            self.inputs.clock = self.paths.lock
            if self._lock.take(warn):
                self._check_folders()
                self._load()

    def unlock(self) -> None:
        """Lets other runs write to the cache."""
        self._lock.release()

    def refresh(self) -> None:
        """Takes the lock and a snapshot of the inputs, and begins a revision. CodeChanged if gradmill's own code
        changed."""
        self.lock()
        if not unchanged(self.inputs.code.stats.items()):
            raise CodeChanged
        if self._budget:
            self.db.budget = self._budget  # a first build had less
        self._forget_revision()
        self.db.begin(self.inputs.take())

    def _forget_revision(self) -> None:
        """Drops what is known of one revision alone."""
        self._written: Mapping[str, Home] | None = None
        self._places: Mapping[str, str] | None = None
        self._problems: Problems | None = None  # of all stages

    def is_sound(self) -> bool:
        """Whether the store was sound in all of this revision. If not, all has to be brought up to date again."""
        sound = self.db.check()
        if not sound:
            self._forget_revision()
        return sound

    # ---- output

    def path(self, name: str) -> str:
        """The path of a generated file."""
        return os.path.join(self.paths.generated, name)

    def file_names(self) -> Sequence[str]:
        """The names of the generated files; one for all those that each operator has, with `{operator}`
        in it."""
        from gradmill.stages.arrangement import files

        return self.db.names(files, *self.layout)

    def written_files(self) -> Mapping[str, Home]:
        """All generated files by name, of this revision; each with its name in `file_names`."""
        if self._written is None:
            from gradmill.stages.operator_files import written_files

            self._written = written_files(self.db, *self.layout)
        return self._written

    def members(self, entry: str) -> Collection[str]:
        """The generated files of one name in `file_names`, each by itself."""
        from gradmill.stages.operator_files import homes

        return homes(self.db, *self.layout, entry) if ANY in entry else (entry,)

    def wanted_digest(self, name: str) -> bytes:
        """The digest of the bytes that a generated file should have."""
        from gradmill.stages.shard import file_digest

        return self.written_files()[name].digest or file_digest(self.db, *self.layout, name).xxh3

    def places(self) -> Mapping[str, str]:
        """The places of all generated files, by name, as `Outputs.place` has them; of this revision."""
        if self._places is None:
            places: dict[str, str] = {}
            for entry in self.file_names():
                folder = "".join(entry.rpartition("/")[:2])
                start, within = len(folder), self.outputs.place(self.path(folder))
                places |= {name: within + name[start:] for name in self.members(entry)}
            self._places = places
        return self._places

    def count_of_units(self) -> int:
        """The number of units."""
        from gradmill.stages.units import unit_titles

        return unit_titles(self.db).count

    def targets(self) -> list[str]:
        """The places of the files that a complete run writes, without depfiles."""
        return [*self.places().values(), *map(self.outputs.place, (self.paths.units, self.paths.manifest))]

    def with_depfiles(self) -> list[str]:
        """The generated files with a depfile of their own."""
        return [name for name in self.file_names() if ANY not in name] if self.config.layout == "split" else []

    def depfile_targets(self) -> list[str]:
        """The targets of the rule in the file that `depfile=` names: the stamp, else all generated files."""
        stamp = self.config.stamp
        return [os.path.abspath(path) for path in ([stamp] if stamp else map(self.path, self.written_files()))]

    # ---- problems

    def problems(self, *, purity: bool = False) -> Problems:
        """Brings all stages up to date; returns all errors and warnings, once in each revision. `purity`: also of hooks
        that return other values when they are called again. CodeChanged as in `OwnCode.check`."""
        roots = [*self.stages.roots(), *(self.stages.of_hooks() if purity else ())]
        if purity or self._problems is None:
            for query, *args in roots:
                self.db.digest(query, *args)
            self.inputs.code.check()
            self._problems = self.problems_of(roots)
        return self._problems

    def problems_of(self, roots: Iterable[Root]) -> Problems:
        """The problems of some queries and of their dependencies, which are up to date."""
        return Problems(self.config, self.db, all_problems(self.config, self.db, list(roots)))

    def clean_problems(self) -> Problems:
        """The problems of the stages that are up to date."""
        return self.problems_of([root for root in self.stages.roots() if self.db.is_clean(*root)])

    def fails(self, roots: Sequence[Root]) -> bool:
        """Whether the rows under `roots` have an error. Verifies them."""
        return fails(self.config, all_problems(self.config, self.db, roots))

    # ---- the end

    def close(self) -> None:
        """Closes the database without a commit, releases the lock, and removes folders of the cache that are empty."""
        if self._is_open:
            self._is_open = False
            self.db.close()
            for folder in (self.config.folder, self.config.cache):
                remove_empty(folder)
        self.unlock()
