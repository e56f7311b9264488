"""The build of one configuration in one process: its inputs, its database, its output."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pipeline.families.file import ANY
from pipeline.front.output.folder_record import FolderRecord
from pipeline.front.output.outputs import Outputs, Written
from pipeline.front.run import record
from pipeline.front.run.claims import check_files, claim_cache
from pipeline.front.run.contents import units
from pipeline.front.run.inputs import Inputs
from pipeline.front.run.lock import Lock
from pipeline.front.run.notes import Forgotten, read_notes
from pipeline.front.run.own_code import CodeChanged
from pipeline.front.run.paths import Paths, paths_of
from pipeline.front.run.problems import Problems, all_problems
from pipeline.front.run.record import Answer, Evidence, Made, Record
from pipeline.front.run.roots import Root, Stages, find_query
from pipeline.front.settings.config import Config
from pipeline.io.files import is_file, remove_empty, stat_of
from pipeline.problems.plain import warn
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.query.database import Database
    from pipeline.query.memo import Input
    from pipeline.query.store import Store
    from pipeline.stages.operator_files import Home


class Mode(Struct, frozen=True):
    """How a build behaves."""

    writes: bool = False  # whether it writes to the cache: if so, it takes the lock
    budget: int = 0  # the memory budget of values, in bytes, of a build that stays in memory; 0: enough for one run


READS, WRITES = Mode(), Mode(writes=True)
BUDGET = 64_000_000  # enough for what the next edit needs
FIRST = 3_000_000  # of a first build, which uses most values once
LARGE = 1 << 30  # bytes of a store above which garbage is collected automatically
STAYS = Mode(writes=True, budget=BUDGET)


class Build:
    """A spec set and its generated files. A snapshot of the inputs is taken on first use of the database. `mode`: may
    be replaced until then; `memory`: a store to use in place of the one on the disk."""

    def __init__(
        self,
        config: Config,
        paths: Paths | None = None,
        inputs: Inputs | None = None,
        *,
        mode: Mode = READS,
        memory: Store | None = None,
    ) -> None:
        self.config = config
        self.mode = mode
        self.paths = paths or paths_of(config)
        self.stages = Stages(config)
        self.inputs = inputs or Inputs(config)
        self.layout = config.arrangement
        self._terms = record.terms_of(config, self.paths, self.inputs.code.identity())
        self._memory = memory
        self._load()
        self.served = self._find_served()  # what the last run made, if there is nothing to do
        self._lock = Lock(self.paths.lock)
        self._db: Database | None = None
        self.forgotten = Forgotten({})  # the tasks that `doit forget` named before this revision
        self._written: Mapping[str, Home] | None = None  # in this revision
        self._places: Mapping[str, str] | None = None  # the same

    def _load(self) -> None:
        self._saved = stat_of(self.paths.record)
        self.record: Record | None = record.load(self.paths.record)
        known = self.record.evidence.outputs if self.record is not None else {}
        self.outputs = Outputs(known, self.inputs.spec_paths, FolderRecord(self.paths.generated, self.paths.written))

    def _find_served(self) -> Made | None:
        """What the last run made, if its record shows that nothing has changed since. A build that stays in memory asks
        its rows."""
        if self.record is None or self.mode.budget or self._memory is not None:
            return None
        is_served = self.record.serves(self._terms, self.inputs.spec_paths(), strict=self.config.strict)
        return self.record.made if is_served else None

    @property
    def nothing_changed(self) -> bool:
        """Whether there is nothing to do, as the record showed when the build began."""
        return self.served is not None

    # ---- the database

    @property
    def db(self) -> Database:
        """The database, in the revision of the last snapshot; opened on first use. CodeChanged as in `OwnCode.take`,
        SpecError if there are files of others in its place."""
        if self._db is None:
            if self._memory is None:
                check_files(self.config.folder)
            self.lock()
            store = self.store  # takes the snapshot of the code, which is an input
            if self.mode.writes and not is_file(store):
                from pipeline.front.run.collect import remove_stores

                remove_stores(self.paths.cache, keep=1)  # those of other code, but the last one
            inputs = self.inputs.take()
            self._db = self._open(store)
            self._begin(self._db, inputs)
        return self._db

    def _open(self, path: str) -> Database:
        """The database of the store at `path`; a large one is collected first."""
        from pipeline.query.database import Database
        from pipeline.stages.set import CODE
        from pipeline.store.sqlite import SqliteStore, size_of

        size = size_of(path)
        if size > LARGE and self._memory is None:
            from pipeline.front.run.collect import is_root  # much code, rarely needed
            from pipeline.store.collect import collect

            collect(path, is_root)
        store = self._memory or SqliteStore(path, seals=self.mode.writes)
        return Database(store, find_query, self.mode.budget if size else FIRST, warn, CODE, (SpecError,))

    def _begin(self, db: Database, inputs: Mapping[str, Input]) -> None:
        """Begins a revision, without the rows of tasks that `doit forget` named."""
        db.begin(inputs)
        self.forgotten = Forgotten(read_notes(self.paths.notes))
        if self.forgotten:
            self._forget_rows(db)

    def _forget_rows(self, db: Database) -> None:
        """Drops the rows of tasks that `doit forget` named."""
        forgotten, named = self.forgotten, units(db) if self.forgotten.about_units else {}
        tasks = {(family, unit.name): f"emit:{name}" for name, (family, unit) in named.items()}

        def wanted(name: tuple[Any, ...]) -> bool:
            module, _, query = str(name[0]).partition(":")
            if query == "text":
                return tasks.get(name[1:], "emit") in forgotten
            if query == "made" and f"shard:{name[-1]}" in forgotten:
                return True
            return module in self.stages.analysis and module in forgotten

        db.forget(wanted)

    @property
    def store(self) -> str:
        """The path of the store, which is of the running code alone. CodeChanged as in `OwnCode.take`."""
        code = self.inputs.code
        if not code.digest:
            self.stages.load()
            code.take(self.record.evidence.stats if self.record is not None else {})
        return self.paths.store(code.digest)

    def lock(self) -> None:
        """Takes the lock, if this build writes. After waiting for another run, its record is loaded."""
        if self.mode.writes:
            self.inputs.clock = self.paths.lock
            if self._lock.take(warn):
                self._load()

    def unlock(self) -> None:
        """Lets other runs write to the cache."""
        self._lock.release()

    def refresh(self) -> None:
        """Takes a snapshot of the inputs, and begins a revision. CodeChanged if gradmill's own code changed."""
        db, self.served = self.db, None
        self._written = self._places = None
        if not self.inputs.code.is_unchanged():
            raise CodeChanged
        if self.mode.budget:
            db.budget = self.mode.budget  # a first build had less
        self._begin(db, self.inputs.take())

    # ---- output

    def path(self, name: str) -> str:
        """The path of a generated file."""
        return os.path.join(self.paths.generated, name)

    def file_names(self) -> Sequence[str]:
        """The names of the generated files; one for all those that each operator has, with `{operator}`
        in it."""
        if self.served is not None:
            return list(self.served.files)
        from pipeline.stages.arrangement import files

        return self.db.names(files, *self.layout)

    def counts_of_files(self) -> Mapping[str, int]:
        """How many files there are of each name in `file_names`."""
        if self.served is not None:
            return self.served.files
        return {entry: len(self.members(entry)) for entry in self.file_names()}

    def written_files(self) -> Mapping[str, Home]:
        """All generated files by name, of this revision; each with its name in `file_names`."""
        db = self.db
        if self._written is None:
            from pipeline.stages.operator_files import written_files

            self._written = written_files(db, *self.layout)
        return self._written

    def members(self, entry: str) -> Collection[str]:
        """The generated files of one name in `file_names`, each by itself."""
        from pipeline.stages.operator_files import homes

        return homes(self.db, *self.layout, entry) if ANY in entry else (entry,)

    def wanted_digest(self, name: str) -> bytes:
        """The digest of the bytes that a generated file should have."""
        from pipeline.stages.shard import made

        return self.written_files()[name].digest or made(self.db, *self.layout, name).xxh3

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
        if self.served is not None:
            return self.served.units
        from pipeline.stages.units import unit_titles

        return unit_titles(self.db).count

    def targets(self) -> list[str]:
        """The places of the files that a complete run writes, without depfiles."""
        return [*self.places().values(), *map(self.outputs.place, (self.paths.units, self.paths.manifest))]

    # ---- problems

    def problems(self, *, purity: bool = False) -> Problems:
        """Brings all stages up to date; returns all errors and warnings. `purity`: also of hooks that return other
        values when they are called again. CodeChanged as in `OwnCode.check`."""
        roots = [*self.stages.roots(), *(self.stages.of_hooks() if purity else ())]
        for query, *args in roots:
            self.db.digest(query, *args)
        self.inputs.code.check()
        return self.problems_of(roots)

    def problems_of(self, roots: Iterable[Root]) -> Problems:
        """The problems of some queries and of their dependencies, which are up to date."""
        return Problems(self.config, self.db, all_problems(self.config, self.db, list(roots)))

    # ---- the end

    def commit(self, problems: Problems | None = None, *, failed: bool = False) -> None:
        """Commits the results of this run, unless gradmill's own code changed or another run has the lock.
        `problems`: of a complete run, which wrote everything. `failed`: it already reported the problem of the store.
        """
        if self._db is None or not self.inputs.code.is_unchanged() or not self._lock.try_to_take():
            return
        # Before the commit: if another process committed first, the database answers no more.
        complete = problems is not None
        made, targets = self._made(problems), self.targets() if complete else []
        reported = failed and bool(self.db.problem)
        if not self.db.problem:
            claim_cache(self.config)  # first: what else is in the folder counts as one of others until then
        ran, kept = bool(self.db.ran), self.db.commit()
        outputs = self.outputs.there(self.inputs.moment, self.inputs.now)
        whole = complete and kept and outputs.keys() >= set(targets)
        made = replace(made, complete=whole and not self.outputs.remaining)  # each run reports these
        if complete:
            self._complete_folder(outputs)
        kept_files = (self.store, f"{self.store}.values", self.paths.notes, self.outputs.record.path)
        stats = self.inputs.evidence() | {path: stat_of(path) for path in kept_files}
        self.record = Record(self._terms, Evidence(stats, outputs), made)
        problem = (not kept and self.db.problem) or record.save(self.paths.record, self.record)
        self._saved = None if problem else stat_of(self.paths.record)
        if problem and self.mode.writes and ran and not reported:  # otherwise nothing is lost
            warn(f"{problem}; nothing of this run is kept in the cache")

    def keep_answer(self, answer: Answer) -> None:
        """Adds the answer to a command line to the record of this run, unless another run replaced it."""
        if self.record is not None and self._lock.try_to_take() and stat_of(self.paths.record) == self._saved:
            self.record = replace(self.record, answer=answer)
            record.add_answer(self.paths.record, answer)

    def _complete_folder(self, outputs: Mapping[str, Written]) -> None:
        """Completes the record of the output folder at the end of a complete run, which left the files `outputs`."""
        digests, remaining = {path: written.digest for path, written in outputs.items()}, self.outputs.remaining
        if self.paths.written:  # other builds wrote to the tree, too
            others = self.outputs.record.digests().items()
            there = {path: each for path, each in others if path not in outputs and os.path.lexists(path)}
            remaining = remaining | there
        self.outputs.record.complete(self.config.specs.owner, digests, remaining)

    def _made(self, problems: Problems | None) -> Made:
        """The results to record; nothing of a run that is not complete."""
        if problems is None:
            return Made()
        return Made(dict(self.counts_of_files()), self.count_of_units(), problems.report, bool(problems.all))

    def drop(self) -> None:
        """Closes the build, and removes empty folders of the cache, for callers that may have committed nothing."""
        self.close()
        for folder in (self.config.folder, self.config.cache):
            remove_empty(folder)

    def close(self) -> None:
        """Closes the database without a commit, and releases the lock."""
        if self._db is not None:
            self._db.close()
        self.unlock()
