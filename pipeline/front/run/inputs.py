"""What a run reads: gradmill's own code, the spec set, the release; as all of it was when the run began."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from pipeline import STARTED
from pipeline.code.files import CodeChanged
from pipeline.families.table import TEMPLATES
from pipeline.front.output.outputs import Written
from pipeline.front.run.last import Last, folders
from pipeline.front.settings.config import Config
from pipeline.io.files import Moment, Stat, evidence, is_settled, moment, stat_of

if TYPE_CHECKING:
    from pipeline.code.files import Source
    from pipeline.front.settings.graph_files import Archive
    from pipeline.query.row import Taken
    from pipeline.specs.location import Location

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_EMBEDDED = os.path.join(PACKAGE, "specs", "core", "")
LIBRARIES = ("msgspec", "xxhash", "yaml")


class Inputs:
    """The inputs of one configuration. `stats` are those of their files when they were taken, at `moment`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.moment = Moment(0)
        self.clock = ""  # a file that may be touched, to know what time it is there
        self._code: dict[str, str] = {}
        self._sources: dict[str, Source] = {}
        self._taken: dict[str, Taken] = {}  # of code
        self.stats: dict[str, Stat | None] = {}
        self.opened: dict[str, bytes] = {}  # what an editor has of files, by label: it counts in place of the disk's
        self._loaded: set[str] = set()  # the modules that were there when the code was looked at
        self._paths: list[str] = []  # of the spec set's files, and of the graphs', when they were taken

    def take(self, last: Last | None) -> Mapping[str, Taken]:
        """All inputs as they are now; CodeChanged where what runs may be another text than what is there."""
        self.moment = self.now()
        self._taken, specs = self._take_code(last), self._take_specs()
        for source in self._sources.values():
            _ = source.digest  # read by now: it is not that of another moment than the rest
        self._loaded = set(sys.modules)
        if not self.code_is_the_same():  # else what runs and what it reads might never have been there together
            raise CodeChanged
        return self._taken | specs

    def take_again(self) -> Mapping[str, Taken]:
        """The same with the code as it was taken, which whoever asks looks at before anything is kept."""
        self.moment = self.now()
        return self._taken | self._take_specs()

    def now(self) -> Moment:
        """Now, by the clock of the cache too where this run writes there."""
        return moment(self.clock)

    def check_code(self) -> None:
        """CodeChanged where modules that were loaded meanwhile, or texts beside them, may be others than were taken.
        Whoever tells or writes what a round found asks before: rows are made by what is loaded, and go by what was
        taken."""
        if len(sys.modules) == len(self._loaded):
            return
        files = (getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - self._loaded)
        folders = {os.path.dirname(file) for file in files if file}
        if any(stat_of(path) != self.stats[path] for path in self._code.values() if os.path.dirname(path) in folders):
            raise CodeChanged
        self._loaded = set(sys.modules)

    def code_is_the_same(self) -> bool:
        """Whether gradmill's own files are as they were when the inputs were taken."""
        return all(stat_of(path) == self.stats[path] for path in self._code.values())

    def specs_are_the_same(self) -> bool:
        """Whether the files of the spec set are as they were when the inputs were taken."""
        paths = self.spec_paths()
        known = {path: evidence(self.stats.get(path), self.moment) for path in paths}
        return paths == self._paths and all(stat_of(path) == stat for path, stat in known.items())

    def whose(self) -> tuple[str, ...]:
        """Which gradmill this is, of those that one cache may serve: its folder, its Python, where libraries are."""
        found = (PathFinder.find_spec(name) for name in LIBRARIES)
        return (PACKAGE, sys.version, *(spec.origin or "" for spec in found if spec is not None))

    def code(self) -> dict[str, Written]:
        """gradmill's own files, as they were taken."""
        files = ((path, self.stats[path], self._sources[label]) for label, path in self._code.items())
        return {path: Written(stat, source.digest) for path, stat, source in files if stat is not None}

    def evidence(self) -> dict[str, Stat | None]:
        """By what a later run knows that all other files are unchanged, and that no file of gradmill's was added."""
        code = set(self._code.values())
        stats = {path: stat for path, stat in self.stats.items() if path not in code}
        stats |= {path: stat_of(path) for path in folders(code)}
        return {path: evidence(stat, self.moment) for path, stat in stats.items()}

    def _take_code(self, last: Last | None) -> dict[str, Taken]:
        from pipeline.code.bytecode import runs_as_older
        from pipeline.code.code import FILES
        from pipeline.code.files import Source, library_files
        from pipeline.query.database import ENGINE
        from pipeline.query.row import Input

        self._code = _own_files()
        libraries = library_files(LIBRARIES)
        known = last.code if last is not None else {}
        self.stats = {path: stat_of(path) for path in (*self._code.values(), *libraries.values())}
        if not all(stat is None or is_settled(stat, Moment(STARTED)) for stat in self.stats.values()):
            raise CodeChanged
        new = [path for path in self._code.values() if path not in known or known[path].stat != self.stats[path]]
        if [path for path in new if path.endswith(".py") and runs_as_older(path)]:
            raise CodeChanged
        sources: dict[str, Source] = {}
        for label, path in (*self._code.items(), *libraries.items()):
            made = known.get(path)
            trusted = made.digest if made is not None and made.stat == self.stats[path] else None
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
        from pipeline.query.row import Input, encode
        from pipeline.stages.set import (
            DESCRIBED,
            FAMILIES,
            GRAPHS,
            LINES,
            RELEASE,
            SET,
            UNREADABLE,
            Set,
            graph_label,
            header_label,
            spec_label,
            template_label,
        )

        config, specs = self._config, self._config.specs
        may_lack = (*TEMPLATES.optional, *TEMPLATES.for_graphs)
        templates = {name: at for name, at in self._templates().items() if name not in may_lack or at.exists()}
        labels: dict[str, Location | Archive] = {spec_label(key): at for key, at in specs.files.items()}
        labels |= {template_label(name): at for name, at in templates.items()}
        labels |= {header_label(name): at for name, at in specs.headers.items()}
        graphs = config.graphs.files()
        labels |= {graph_label(name): at for name, at in graphs.items()}
        names = specs.names()
        self._paths = self.spec_paths()
        self.stats.update({path: stat_of(path) for path in self._paths})
        found: dict[str, Taken] = {}
        unreadable = {}
        for label, at in labels.items():
            try:
                found[label] = Input(self.opened[label] if label in self.opened else at.read())
            except (OSError, KeyError) as error:
                unreadable[label] = str(getattr(error, "strerror", None) or error)
                found[label] = Input(None)
        comment, headers = specs.template_comment, tuple(specs.headers)
        found[SET] = Input(encode(Set(specs.name, names, tuple(templates), comment, headers, specs.whole)))
        found[RELEASE] = Input(config.release.encode())
        if specs.described is not None:
            found[DESCRIBED] = Input(encode(specs.described))
        found[FAMILIES] = Input(",".join(config.families).encode())
        if config.graphs.given:
            found[GRAPHS] = Input(encode({"files": list(graphs), "namespace": config.namespace}))
        if config.called is not None:
            found[LINES] = Input(encode(config.called))
        found[UNREADABLE] = Input(encode(unreadable))
        return found

    def spec_paths(self) -> list[str]:
        """The files of the spec set, and of the graphs."""
        specs = self._config.specs
        found = [at.path for at in (*specs.files.values(), *self._templates().values(), *specs.headers.values())]
        found += self._config.graphs.paths()
        return list(dict.fromkeys([*found, *([specs.version_file] if specs.version_file else [])]))

    def _templates(self) -> dict[str, Location]:
        """The templates that a run may read."""
        left_out = () if self._config.graphs.given else TEMPLATES.for_graphs
        return {name: at for name, at in self._config.specs.templates.items() if name not in left_out}

    def code_paths(self) -> list[str]:
        """gradmill's own files."""
        return list((self._code or _own_files()).values())


def _own_files() -> dict[str, str]:
    """gradmill's own files by label: not the embedded set, which an installed package has inside, and which is a spec
    set like any other."""
    from pipeline.code.files import source_files

    return {label: path for label, path in source_files(PACKAGE).items() if not path.startswith(_EMBEDDED)}
