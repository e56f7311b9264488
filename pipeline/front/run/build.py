"""One configuration's build in one process: its inputs as they were when it began, its database, its output."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.code.files import CodeChanged
from pipeline.front.output.claims import claim_cache
from pipeline.front.output.outputs import Outputs
from pipeline.front.run import last as last_run
from pipeline.front.run.inputs import Inputs
from pipeline.front.run.lock import Lock
from pipeline.front.settings.config import Config
from pipeline.problems.plain import warn
from pipeline.problems.problem import Problem
from pipeline.query.row import digest, encode

if TYPE_CHECKING:
    from pipeline.families.file import File
    from pipeline.front.run.notes import Forgotten
    from pipeline.model.units import Unit
    from pipeline.query.database import Database
    from pipeline.query.query import Query

# The stages, in their order: what each does, then which ones it needs. Each has a query `stage` that stands for it all.
ANALYSIS: dict[str, tuple[str, ...]] = {
    "specs": ("read the YAML files into raw entries",),
    "schemas": ("parse operator schemas, generate missing variants", "specs"),
    "derivatives": ("read the raw derivative definitions", "specs"),
    "infos": ("work out differentiability infos and name the Nodes", "derivatives", "schemas"),
    "foreach": ("synthesize infos of foreach functions", "schemas", "infos"),
    "match": ("match every native function with its infos", "schemas", "infos", "foreach"),
}
GRAPHS = {"graphs": ("read the files of whole graphs", "schemas")}  # there where `graphs=` is
_UNITS = ("kernels", "units", "emit", "shard", "manifest")
_OTHERS = ("set", "tags", "formulas.vocabulary", "layered.files", "layered.taking", *_UNITS)
_MODULES = tuple(f"pipeline.stages.{name}" for name in (*ANALYSIS, *_OTHERS))
_LAYERED = tuple(
    f"pipeline.stages.layered.{name}" for name in ("texts", "keys", "choosing", "asking", "unmatched", "checks")
)
_FOR_GRAPHS = tuple(f"pipeline.stages.{name}" for name in (*GRAPHS, "graph_operators", "graph_text"))
_PAGES = tuple(f"pipeline.reports.page.{name}" for name in ("relations", "subjects", "changes", "pages"))
_BY_NAME = {m.rpartition(".")[2]: m for m in (*_MODULES, *_LAYERED, *_FOR_GRAPHS, *_PAGES, "pipeline.code.code")}

Root = tuple[Any, ...]  # a query and its key


class Build:
    """A spec set, and all that is made of it. Nothing is read before it is needed."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.store_path = os.path.join(config.folder, "rows")
        self.notes_path = os.path.join(config.folder, "doit")  # where doit's own notes are kept
        self.manifest_path = os.path.join(config.folder, "manifest.json")
        self.layout = (config.layout, config.shards if config.layout == "split" else 0)
        self.inputs = Inputs(config)
        self.last = last_run.load(self.last_path)
        self.nothing_changed = self.last is not None and self._serves(self.last)
        self.has_cache = self.last is not None or any(map(os.path.lexists, self._own_files()))
        self.outputs = self._outputs()
        self.warned = False  # whether the last report had anything to report
        self.writes = False  # whether this is to write to the cache, and not only to look: then others wait
        self._lock = Lock(config.lock_path)
        self.room = 0  # bytes of values that stay in memory; 0: as many as one run is worth
        self._db: Database | None = None
        self.forgotten: Forgotten | None = None  # the tasks that doit was told to forget before this run

    def _serves(self, last: last_run.Last) -> bool:
        """Whether the last run of this configuration did all that this one is to do."""
        if (self.config.strict and last.warned) or self.config.format != last.format:
            return False  # what it warned of is a mistake now, or is to be told in another form
        if last.whose != self.inputs.whose() or last.spelt != self._spelt():
            return False  # another gradmill may make other files, and depfiles have paths as they were given
        return last.stats.keys() >= set(self.inputs.spec_paths()) and last_run.unchanged(last)

    def _spelt(self) -> tuple[str, ...]:
        """How the places are spelt that depfiles name, and what the description said when it was read: the file may
        have changed by the time of its stat."""
        place, described = self.config.generated, self.config.specs.described
        said = digest(encode(described)).hex() if described is not None else ""
        return (self.manifest_path, place, "" if os.path.isabs(place) else os.getcwd(), said)

    # ---- where things are

    @property
    def last_path(self) -> str:
        """Where the last run of this configuration is kept."""
        config, asked = self.config, ",".join(self.config.families)
        more = [str(config.called)] if config.lines else []
        more += [os.path.abspath(config.graphs.given), config.namespace] if config.graphs.given else []
        named = "-".join((*map(str, self.layout), config.release, asked, os.path.abspath(config.generated), *more))
        from xxhash import xxh3_64_hexdigest

        return os.path.join(config.folder, f"last-{xxh3_64_hexdigest(named.encode())[:12]}")

    def _outputs(self) -> Outputs:
        """What the last run left."""
        return Outputs(self.last.outputs if self.last is not None else {}, self.inputs.spec_paths)

    def _own_files(self) -> list[str]:
        """Files that every run leaves in the set's folder of the cache: where none is, a manifest may be another's."""
        return [os.path.join(self.config.folder, name) for name in ("set", "rows", "rows.values", "rows.seal")]

    def path(self, name: str) -> str:
        """Where a generated file goes."""
        return os.path.join(self.config.generated, name)

    # ---- the database

    @property
    def db(self) -> Database:
        """The database, with today's inputs."""
        if self._db is None:
            from pipeline.code.code import code
            from pipeline.front.run.collect import collect_if_large
            from pipeline.query.database import Database
            from pipeline.query.store import Store

            self.lock()
            collect_if_large(self.store_path)
            store = Store(self.store_path, seals=self.writes)
            self._db = Database(store, find_query, code, self.room, warn)
            try:
                self.refresh()
            except CodeChanged:
                self._db = None  # nothing was taken, and there is nothing to keep
                raise
        return self._db

    def lock(self) -> None:
        """Waits for other runs that write to the cache, and for what these leave."""
        if not self.writes:
            return
        self.inputs.clock = self._lock.path
        if self._lock.take(warn):
            self.last = last_run.load(self.last_path)
            self.outputs = self._outputs()

    def unlock(self) -> None:
        """Lets other runs write to the cache."""
        self._lock.release()

    def refresh(self, *, again: bool = False) -> None:
        """Takes the inputs anew, and starts a round. `again`: all but gradmill's own code."""
        assert self._db is not None
        layered = _LAYERED if self.config.specs.described is not None else ()
        for name in (*_MODULES, *layered, *(_FOR_GRAPHS if self.config.graphs.given else ())):
            import_module(name)
        taken = self.inputs.take_again() if again else self.inputs.take(self.last)
        self.outputs.moment = self.inputs.moment
        self._db.begin(taken)
        self._forget()

    def _forget(self) -> None:
        """Drops the rows of tasks that doit was told to forget."""
        from pipeline.front.run.notes import Forgotten, read_notes

        self.forgotten = forgotten = Forgotten(read_notes(self.notes_path))
        if not forgotten or self._db is None:
            return
        named = self.units() if forgotten.about("emit") else {}
        called = {(family, unit.name): f"emit:{name}" for name, (family, unit) in named.items()}

        def wanted(name: tuple[Any, ...]) -> bool:
            module, _, query = str(name[0]).partition(":")
            if query == "text":
                return called.get(name[1:], "emit") in forgotten
            return (query == "made" and f"shard:{name[-1]}" in forgotten) or (
                module in self.analysis and module in forgotten
            )

        self._db.forget(wanted)

    def clear_forgotten(self, done: set[str], *, again: bool) -> None:
        """Drops the notes of tasks to be forgotten that are `done` by now; of all where all was made `again`."""
        from pipeline.front.run.notes import read_notes, write_notes

        if self.forgotten:
            notes = read_notes(self.notes_path)
            kept = self.forgotten.left(notes, done, again=again)
            if kept != notes:
                write_notes(self.notes_path, kept)

    # ---- what is to be made

    @property
    def analysis(self) -> dict[str, tuple[str, ...]]:
        """The stages that come before any unit is printed."""
        return {**ANALYSIS, **GRAPHS} if self.config.graphs.given else ANALYSIS

    def before_units(self) -> list[Root]:
        """What has to be right before any unit is printed."""
        return [self.root(stage) for stage in ("match", *GRAPHS) if stage in self.analysis]

    def root(self, stage: str) -> Root:
        """The query that stands for a stage, with its key."""
        return (stage_module(stage).stage, *(self.layout if stage == "shard" else ()))

    def roots(self) -> list[Root]:
        """All stages: what tells every mistake. Files are put together, and described by the manifest, after that."""
        return [self.root(stage) for stage in (*self.analysis, "shard")]

    def files(self) -> list[File]:
        """The generated files."""
        from pipeline.stages.shard import files

        return list(files(self.db, *self.layout).values())

    def file_names(self) -> list[str]:
        """Their names."""
        if self.nothing_changed and self.last is not None:
            return list(self.last.files)
        from pipeline.stages.shard import files

        return self.db.names(files, *self.layout)

    def knows_files(self) -> bool:
        """Whether anybody asked for the files in this run, or need not ask."""
        from pipeline.stages.shard import files

        return self.db.current(files, *self.layout)

    def units(self) -> dict[str, tuple[str, Unit]]:
        """The units of all families with the names of these, by what people call them."""
        from pipeline.model.entries import numbered
        from pipeline.stages.units import families, units

        found = [(family, unit) for family in families(self.db) for unit in units(self.db, family)]
        return dict(zip(numbered(unit.title for _, unit in found), found))

    def schemas_of(self, units: Mapping[str, tuple[str, Unit]]) -> dict[str, str]:
        """The schemas of units, by what people call these."""
        from pipeline.stages.units import schemas_of

        return dict(zip(units, schemas_of(self.db, [unit for _, unit in units.values()])))

    def count_of_units(self) -> int:
        """How many there are."""
        from pipeline.stages.units import unit_titles

        return unit_titles(self.db).count

    # ---- problems

    def bring(self) -> None:
        """Brings all stages up to date."""
        for query, *args in self.roots():
            self.db.digest(query, *args)

    def problems(self) -> list[Problem]:
        """Every mistake and every warning of the whole build."""
        self.bring()
        self.inputs.check_code()
        return self._causes(self.roots())

    def problems_seen(self) -> list[Problem]:
        """The same of what has been brought up to date already."""
        return self._causes([(query, *args) for query, *args in self.roots() if self.db.current(query, *args)])

    def _causes(self, roots: list[Root]) -> list[Problem]:
        from pipeline.problems.causes import causes
        from pipeline.query.account import problems

        return causes(problems(self.db, roots, Problem))

    def failed(self, problems: Iterable[Problem]) -> bool:
        """Whether these problems stop a build."""
        return any(self.config.strict or not problem.warning for problem in problems)

    def report(self, problems: Iterable[Problem]) -> str:
        """Problems in the order of the files, in the format that is asked for."""
        from pipeline.front.run.sources import reported

        self.warned = bool(problems := list(problems))
        return reported(self, problems)

    # ---- the end

    def commit(self, report: str = "", *, complete: bool = False, failed: bool = False) -> None:
        """Keeps what this run found, unless gradmill's own code changed since it began, or another run, for which this
        one did not wait, is about to. `failed`: the run has reported what was known to be wrong before this."""
        if self._db is None or not self.inputs.code_is_the_same() or not self._lock.try_to_take():
            return
        from pipeline.io.files import stat_of

        # Asked for before the commit: where another process wrote first, it leaves nothing to ask.
        files, units = (tuple(self.file_names()), self.count_of_units()) if complete else ((), 0)
        reported = failed and bool(self._db.problem)
        ran, kept = bool(self._db.ran), self._db.commit()
        if kept:
            claim_cache(self.config)
        beside = (self.store_path, f"{self.store_path}.values", self.notes_path)
        outputs = self.outputs.there(self.inputs.now)
        places = map(os.path.abspath, (*map(self.path, files), self.manifest_path))
        complete = complete and all(path in outputs for path in places)
        last = last_run.Last(
            self.inputs.evidence() | {path: stat_of(path) for path in beside},
            self.inputs.code(),
            outputs,
            files,
            units,
            report,
            complete and kept,
            self.warned,
            self.config.format,
            self.inputs.whose(),
            self._spelt(),
        )
        self.last = last
        problem = last_run.keep(self.last_path, last, "" if kept else self._db.problem)
        if problem and self.writes and ran and not reported:  # else nothing is lost
            warn(f"{problem}; nothing of this run is kept in the cache")

    def drop(self) -> None:
        """Closes, for those who only look: folders of the cache that nothing is in are removed."""
        self.close()
        for folder in (self.config.folder, self.config.cache):
            with suppress(OSError):
                os.rmdir(folder)

    def close(self) -> None:
        """Lets go of the database; what was not kept is dropped."""
        if self._db is not None:
            self._db.close()
        self.unlock()


def stage_module(stage: str) -> Any:
    """The module of a stage."""
    return import_module(f"pipeline.stages.{stage}")


def find_query(name: str) -> Query[Any, Any] | None:
    """A query by its name; None for what is none of today's queries."""
    from pipeline.query.query import Query

    module, _, function = name.partition(":")
    found = getattr(import_module(_BY_NAME[module]), function, None) if module in _BY_NAME else None
    return found if isinstance(found, Query) else None
