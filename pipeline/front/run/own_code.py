"""gradmill's own code and the libraries that its output depends on, as inputs of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from pipeline import STARTED
from pipeline.code.files import CodeChanged
from pipeline.front.output.outputs import Written
from pipeline.io.files import Moment, Stat, is_settled, stat_of, unchanged

if TYPE_CHECKING:
    from pipeline.code.files import Source
    from pipeline.query.memo import Input

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_EMBEDDED = os.path.join(PACKAGE, "specs", "core", "")
LIBRARIES = ("msgspec", "xxhash", "yaml")


class OwnCode:
    """The source files as they were when the inputs were taken. What runs was loaded after the process started, and
    may be loaded later: it is what was taken as long as the files have the same stats."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}  # by label
        self._sources: dict[str, Source] = {}  # by label, libraries too
        self._loaded: set[str] = set()  # the modules that had been loaded when the inputs were taken
        self.stats: dict[str, Stat | None] = {}
        self.libraries: dict[str, str] = {}  # the files that state their versions

    def take(self, known: Mapping[str, Written]) -> dict[str, Input]:
        """The inputs. `known`: the files that the last run saw. CodeChanged where what runs may be another text."""
        from pipeline.code.code import FILES
        from pipeline.code.files import library_files
        from pipeline.query.database import ENGINE
        from pipeline.query.memo import Input

        self._paths, self.libraries = own_files(), library_files(LIBRARIES)
        self.stats = {path: stat_of(path) for path in (*self._paths.values(), *self.libraries.values())}
        self._check_running(known)
        self._sources = self._sources_of(known)
        engine = [self._sources[label].digest for label in self._paths if label.startswith("code/pipeline/query/")]
        engine += [self._sources[name].digest for name in self.libraries]
        version = ".".join(map(str, sys.version_info[:3])).encode()
        taken: dict[str, Input] = {**self._sources}
        return taken | {
            ENGINE: Input(b"".join((*engine, version))),
            FILES: Input("\n".join(self._paths).encode()),
        }

    def _check_running(self, known: Mapping[str, Written]) -> None:
        """CodeChanged where a file changed since the process started, or Python took older bytecode for it."""
        from pipeline.code.bytecode import runs_as_older

        if not all(stat is None or is_settled(stat, Moment(STARTED)) for stat in self.stats.values()):
            raise CodeChanged
        new = [path for path in self._paths.values() if path not in known or known[path].stat != self.stats[path]]
        if [path for path in new if path.endswith(".py") and runs_as_older(path)]:
            raise CodeChanged

    def _sources_of(self, known: Mapping[str, Written]) -> dict[str, Source]:
        from pipeline.code.files import Source

        found: dict[str, Source] = {}
        for label, path in (*self._paths.items(), *self.libraries.items()):
            noted = known.get(path)
            trusted = noted.digest if noted is not None and noted.stat == self.stats[path] else None
            found[label] = self._sources.get(label) or Source(path, trusted)
        return found

    def settle(self) -> None:
        """Called when all other inputs have been taken. CodeChanged where a file changed meanwhile: what runs and what
        it reads might never have been there together."""
        for source in self._sources.values():
            _ = source.digest  # read by now: not at another moment than the rest
        self._loaded = set(sys.modules)
        if not self.is_unchanged():
            raise CodeChanged

    def is_unchanged(self) -> bool:
        """Whether gradmill's own files are as they were taken."""
        return unchanged((path, self.stats[path]) for path in self._paths.values())

    def check(self) -> None:
        """CodeChanged where modules that were loaded meanwhile, or texts next to them, may differ from what was taken.
        Asked before anything is reported or written: rows are made by what is loaded, and are keyed by what was
        taken."""
        if len(sys.modules) == len(self._loaded):
            return
        files = (getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - self._loaded)
        folders = {os.path.dirname(file) for file in files if file}
        if not unchanged((path, self.stats[path]) for path in self._paths.values() if os.path.dirname(path) in folders):
            raise CodeChanged
        self._loaded = set(sys.modules)

    def written(self) -> dict[str, Written]:
        """The files with their digests."""
        files = ((path, self.stats[path], self._sources[label]) for label, path in self._paths.items())
        return {path: Written(stat, source.digest) for path, stat, source in files if stat is not None}

    def beside(self) -> dict[str, Stat | None]:
        """The stats of the libraries' files, and of gradmill's folders, which an added file changes."""
        folders = sorted({os.path.dirname(path) for path in self._paths.values()})
        return {path: self.stats[path] for path in self.libraries.values()} | {path: stat_of(path) for path in folders}

    def paths(self) -> list[str]:
        """gradmill's own files."""
        return list((self._paths or own_files()).values())


def tool() -> tuple[str, ...]:
    """Which gradmill this is, of those that one cache may serve: its folder, its Python, where libraries are."""
    found = (PathFinder.find_spec(name) for name in LIBRARIES)
    return (PACKAGE, sys.version, *(spec.origin or "" for spec in found if spec is not None))


def own_files() -> dict[str, str]:
    """gradmill's own files by label: not the embedded set, which an installed package has inside, and which is a spec
    set like any other."""
    from pipeline.code.files import source_files

    return {label: path for label, path in source_files(PACKAGE).items() if not path.startswith(_EMBEDDED)}
