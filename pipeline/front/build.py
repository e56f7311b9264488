"""One configuration's build in one process: its inputs as they were when it began, its database, its output."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline import STARTED
from pipeline.front import last as last_run
from pipeline.front.config import Config
from pipeline.front.outputs import Outputs, Written, is_generated, remove_abandoned
from pipeline.problems.problem import Problem, SpecError
from pipeline.specs.spec_set import ROLES

if TYPE_CHECKING:
    from pipeline.families.file import File
    from pipeline.model.units import Unit
    from pipeline.query.code import Source
    from pipeline.query.database import Database
    from pipeline.query.query import Query
    from pipeline.query.row import Taken

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES = ("msgspec", "xxhash", "yaml")

# The stages, in their order; each has a query `stage` that stands for all of it.
ANALYSIS = {
    "specs": "read the YAML files into raw entries",
    "schemas": "parse operator schemas, generate missing variants",
    "derivatives": "read the raw derivative definitions",
    "infos": "work out differentiability infos and name the Nodes",
    "foreach": "synthesize infos of foreach functions",
    "match": "match every native function with its infos",
}
_MODULES = tuple(f"pipeline.stages.{name}" for name in (*ANALYSIS, "set", "units", "emit", "shard", "manifest"))

_BY_NAME = {module.rpartition(".")[2]: module for module in (*_MODULES, "pipeline.query.code")}

Root = tuple[Any, ...]  # a query and its key


class CodeChanged(Exception):
    """gradmill's own code changed while it was loaded: what runs is neither the old nor the new one."""


class Build:
    """A spec set, and all that is made of it. Nothing is read before it is needed."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.layout = (config.layout, config.shards if config.layout == "split" else 0)
        self.last = last_run.load(self.last_path)
        self.nothing_changed = self.last is not None and self._serves(self.last)
        self.outputs = Outputs(self.last.outputs if self.last is not None else {})
        self.room = 0  # bytes of values that stay in memory; 0: as many as one run is worth
        self._db: Database | None = None
        self._code: dict[str, str] = {}
        self._stats: dict[str, Any] = {}
        self._sources: dict[str, Source] = {}
        self._checked = False

    def _serves(self, last: last_run.Last) -> bool:
        """Whether the last run of this configuration did all that this one is to do."""
        if self.config.strict and last.report:
            return False  # what it warned of is a mistake now
        return last.stats.keys() >= set(self.spec_paths()) and last_run.unchanged(last)

    # ---- where things are

    @property
    def last_path(self) -> str:
        """Where the last run of this configuration is kept."""
        config = self.config
        named = "-".join((*map(str, self.layout), config.release, os.path.abspath(config.generated)))
        from xxhash import xxh3_64_hexdigest

        return os.path.join(config.folder, f"last-{xxh3_64_hexdigest(named.encode())[:12]}")

    @property
    def store_path(self) -> str:
        return os.path.join(self.config.folder, "rows")

    @property
    def notes_path(self) -> str:
        """Where doit's own notes are kept."""
        return os.path.join(self.config.folder, "doit")

    @property
    def manifest_path(self) -> str:
        return os.path.join(self.config.folder, "manifest.json")

    def path(self, name: str) -> str:
        """Where a generated file goes."""
        return os.path.join(self.config.generated, name)

    # ---- the database

    @property
    def db(self) -> Database:
        """The database, with today's inputs."""
        if self._db is None:
            from pipeline.query.code import code
            from pipeline.query.database import Database
            from pipeline.query.rows import ROOM
            from pipeline.query.store import Store

            self._db = Database(Store(self.store_path), find_query, code, self.room or ROOM)
            try:
                self.refresh()
            except CodeChanged:
                self._db = None  # nothing was taken, and there is nothing to keep
                raise
        return self._db

    def refresh(self) -> None:
        """Takes the inputs anew, and starts a round."""
        assert self._db is not None
        for name in _MODULES:
            import_module(name)
        inputs = self._take_code() | self._take_specs()
        self._checked = False
        self._db.begin(inputs)
        self._forget()

    def _forget(self) -> None:
        """Drops the rows of tasks that doit was told to forget."""
        from pipeline.front.backend import ALL, FORGOTTEN, read_notes

        tasks = {task for task, note in read_notes(self.notes_path).items() if FORGOTTEN in note}
        if not tasks or self._db is None:
            return

        named = self.units() if any(task.startswith("emit:") for task in tasks) else {}
        chosen = {(family, unit.name) for called, (family, unit) in named.items() if f"emit:{called}" in tasks}

        def wanted(name: tuple[Any, ...]) -> bool:
            module, _, query = str(name[0]).partition(":")
            if query not in ("text", "made") and module not in ANALYSIS:
                return False
            return bool({ALL, module, f"{module}:{name[-1]}"} & tasks) or (query == "text" and name[1:] in chosen)

        self._db.forget(wanted)

    def clear_forgotten(self) -> None:
        """What was to be forgotten has been made again."""
        from pipeline.front.backend import FORGOTTEN, read_notes, write_notes

        notes = read_notes(self.notes_path)
        kept = {task: note for task, note in notes.items() if FORGOTTEN not in note}
        if kept != notes:
            write_notes(self.notes_path, kept)

    def _take_code(self) -> dict[str, Taken]:
        from pipeline.query.code import FILES, Source, library_files, runs_as_older, source_files
        from pipeline.query.database import ENGINE
        from pipeline.query.files import Input, stat_of

        self._code = source_files(PACKAGE)
        libraries = library_files(LIBRARIES)
        known = self.last.code if self.last is not None else {}
        self._stats = {path: stat_of(path) for path in (*self._code.values(), *libraries.values())}
        if not last_run.settled(self._stats, STARTED):
            raise CodeChanged
        new = [path for path in self._code.values() if path not in known or known[path].stat != self._stats[path]]
        if [path for path in new if path.endswith(".py") and runs_as_older(path)]:
            raise CodeChanged
        sources: dict[str, Source] = {}
        for label, path in (*self._code.items(), *libraries.items()):
            made = known.get(path)
            trusted = made.digest if made is not None and made.stat == self._stats[path] else None
            sources[label] = self._sources.get(label) or Source(path, trusted)
        self._sources = sources
        engine = [sources[label].digest for label in self._code if label.startswith("code/pipeline/query/")]
        engine += [sources[name].digest for name in libraries]
        version = ".".join(map(str, sys.version_info[:3])).encode()
        taken: dict[str, Taken] = {**sources}
        return taken | {
            ENGINE: Input(b"".join((*engine, version))),
            FILES: Input("\n".join(self._code).encode()),
        }

    def _take_specs(self) -> dict[str, Taken]:
        from pipeline.query.files import Input, stat_of
        from pipeline.query.row import encode
        from pipeline.stages.set import RELEASE, SET, UNREADABLE, Set, spec_label, template_label

        config, specs = self.config, self.config.specs
        templates = {name: at for name, at in specs.templates.items() if name not in OPTIONAL or at.exists()}
        labels = {spec_label(role): specs.files[role] for role in ROLES}
        labels |= {template_label(name): at for name, at in templates.items()}
        names = {role: os.path.basename(at.member or at.path) for role, at in specs.files.items()}
        self._stats.update({path: stat_of(path) for path in self.spec_paths()})
        found: dict[str, Taken] = {}
        unreadable = {}
        for label, at in labels.items():
            try:
                found[label] = Input(at.read())
            except (OSError, KeyError) as error:
                unreadable[label] = str(getattr(error, "strerror", None) or error)
                found[label] = Input(None)
        described = Set(specs.name, names, tuple(templates), specs.template_comment)
        found[SET] = Input(encode(described))
        found[RELEASE] = Input(config.release.encode())
        found[UNREADABLE] = Input(encode(unreadable))
        return found

    def spec_paths(self) -> list[str]:
        """The files of the spec set."""
        specs = self.config.specs
        found = [at.path for at in (*specs.files.values(), *specs.templates.values())]
        return list(dict.fromkeys([*found, *([specs.version_file] if specs.version_file else [])]))

    def code_paths(self) -> list[str]:
        """gradmill's own files."""
        from pipeline.query.code import source_files

        return list(source_files(PACKAGE).values())

    # ---- what is to be made

    def root(self, stage: str) -> Root:
        """The query that stands for a stage, with its key."""
        found = stage_module(stage).stage
        return (found, *self.layout) if stage == "shard" else (found,)

    def roots(self) -> list[Root]:
        """All that this configuration makes."""
        from pipeline.stages.manifest import manifest

        return [*map(self.root, (*ANALYSIS, "shard")), (manifest, *self.layout)]

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

    def units(self) -> dict[str, tuple[str, Unit]]:
        """The units of all families with the names of these, by what people call them."""
        from pipeline.model.entries import numbered
        from pipeline.stages.units import families, units

        found = [(family, unit) for family in families(self.db) for unit in units(self.db, family)]
        return dict(zip(numbered(unit.title for _, unit in found), found))

    def stale_units(self) -> dict[str, tuple[str, Unit]]:
        """The units whose text is to be made."""
        from pipeline.stages.emit import text
        from pipeline.stages.shard import block_of, made

        db = self.db
        if all(db.current(made, *self.layout, name) for name in self.file_names()):
            return {}
        doubted = {unit for name in self.file_names() for unit in block_of(db, *self.layout, name)}
        return {
            called: (family, unit)
            for called, (family, unit) in (self.units() if doubted else {}).items()
            if (family, unit.name) in doubted and not db.holds(text, family, unit.name)
        }

    # ---- problems

    def bring(self) -> None:
        """Makes all of the output in memory."""
        for query, *args in self.roots():
            self.db.digest(query, *args)

    def problems(self) -> list[Problem]:
        """Every mistake and every warning of the whole build."""
        from pipeline.problems.causes import causes
        from pipeline.query.account import problems

        self.bring()
        return causes(problems(self.db, self.roots(), Problem))

    def failed(self, problems: Iterable[Problem]) -> bool:
        """Whether these problems stop a build."""
        return any(self.config.strict or not problem.warning for problem in problems)

    def report(self, problems: Iterable[Problem]) -> str:
        """Problems as text, in the order of the files."""
        problems = list(problems)
        if not problems:
            return ""
        from pipeline.front.sources import Sources
        from pipeline.problems.render import render

        return render(problems, Sources(self), strict=self.config.strict)

    # ---- output

    def check_places(self) -> None:
        """Refuses to write over an input, or over a file that gradmill did not make."""
        config = self.config
        inputs = {os.path.realpath(path) for path in self.spec_paths()}
        targets = [self.path(name) for name in self.file_names()]
        for path in (*targets, *([config.stamp] if config.stamp else []), self.manifest_path):
            if os.path.realpath(path) in inputs:
                raise SpecError(f"{path}: this is an input", "name another place for the output")
        self._claim()
        for path in targets:
            self.outputs.check(path)

    def _claim(self) -> None:
        """Notes which set the folders in the cache and of the output belong to; refuses those of another one."""
        from pipeline.front.claims import claim

        own = os.path.abspath(next(iter(self.config.specs.files.values())).path)
        claim(os.path.join(self.config.folder, "set"), {"": own}, "cache=DIR")
        generated = {os.path.abspath(self.config.generated): own}
        claim(os.path.join(self.config.cache, "outputs"), generated, "generated=DIR")

    def remove_orphans(self) -> None:
        """Removes files of an earlier layout, and what killed runs left half-written."""
        names = self.file_names()
        current = {self.path(name) for name in names}
        current |= {f"{self.path(name)}.d" for name in names} if self.config.layout == "split" else set()
        folder = os.path.abspath(self.config.generated)
        known = [path for path in self.outputs.known if os.path.dirname(os.path.abspath(path)) == folder]
        lost = [path for path in self._lookalikes() if path not in self.outputs.known]
        self.outputs.remove(path for path in (*known, *lost) if path not in current)
        remove_abandoned(self.config.generated, [*names, *(f"{name}.d" for name in names)])

    def _lookalikes(self) -> Iterator[str]:
        """Generated files of any layout, by their names and what they say."""
        from pipeline.families.table import FAMILIES

        try:
            found = sorted(os.listdir(self.config.generated))
        except OSError:
            return
        for name in found:
            if any(family.owns(name.removesuffix(".d")) for family in FAMILIES.values()):
                path = self.path(name)
                source = path.removesuffix(".d")
                if is_generated(path) or (path != source and path not in self.outputs.known):
                    yield path

    def write_files(self) -> list[str]:
        """Writes the generated files whose bytes changed; gives their names. The places have been checked."""
        from pipeline.stages.shard import contents, made

        written = []
        for name in self.file_names():
            path = self.path(name)
            if not self.outputs.holds(path, made(self.db, *self.layout, name).xxh3):
                self.outputs.write(path, contents(self.db, *self.layout, name))
                written.append(name)
        return written

    def write_manifest(self) -> bool:
        """Writes the manifest and the depfiles; says whether anything was written."""
        from pipeline.stages.manifest import depfile, manifest

        absolute = os.path.isabs(self.config.generated)
        place = os.path.abspath if absolute else os.path.relpath
        inputs = [place(path) for path in (*self.spec_paths(), *self.code_paths())]
        targets = [self.manifest_path]
        if self.config.layout == "split":
            targets += map(self.path, self.file_names())
        found = {self.manifest_path: manifest(self.db, *self.layout)}
        found |= {f"{target}.d": depfile(target, dict.fromkeys(inputs)) for target in targets}
        return sum(self.put(path, data) for path, data in found.items()) > 0

    def put(self, path: str, data: bytes) -> bool:
        """Writes a file of gradmill's own, if its bytes differ; says whether it did."""
        from pipeline.query.files import replace_file
        from pipeline.query.row import digest

        found = digest(data)
        if self.outputs.holds(path, found):
            return False
        replace_file(path, data)
        self.outputs.note(path, found)
        return True

    # ---- the end

    def commit(self, report: str = "", *, complete: bool = False) -> None:
        """Keeps what this run found, unless gradmill's own code changed since it began."""
        if self._db is None:
            return
        from pipeline.query.files import stat_of

        code = set(self._code.values())
        if any(stat_of(path) != self._stats[path] for path in code):
            return
        # Asked for before the commit: where another process wrote first, it leaves nothing to ask.
        files, units = (tuple(self.file_names()), len(self.units())) if complete else ((), 0)
        kept = self._db.commit()
        stats = {path: stat for path, stat in self._stats.items() if path not in code}
        stats |= {path: stat_of(path) for path in (*last_run.folders(code), self.store_path, self.notes_path)}
        last = last_run.Last(
            stats,
            {path: Written(self._stats[path], self._sources[label].digest) for label, path in self._code.items()},
            {path: made for path, made in self.outputs.known.items() if stat_of(path) is not None},
            files,
            units,
            report,
            complete and kept and last_run.settled(self.spec_paths()),
        )
        try:
            last_run.save(self.last_path, last)
        except OSError as error:
            sys.stderr.write(f"{self.config.folder}: {error.strerror}; the next run will do everything again\n")
        self.last = last

    def close(self) -> None:
        """Lets go of the database; what was not kept is dropped."""
        if self._db is not None:
            self._db.close()


OPTIONAL = ("variable_factories.h",)  # templates that a spec set may leave out


def stage_module(stage: str) -> Any:
    """The module of a stage."""
    return import_module(f"pipeline.stages.{stage}")


def find_query(name: str) -> Query[Any, Any] | None:
    """A query by its name; None for what is none of today's queries."""
    module, _, function = name.partition(":")
    found = _BY_NAME.get(module)
    return None if found is None else getattr(import_module(found), function, None)


def seconds() -> float:
    """A clock for reports."""
    return time.perf_counter()
