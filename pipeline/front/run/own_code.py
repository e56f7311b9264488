"""gradmill's own code and the libraries that its output depends on, as inputs of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from pipeline import STARTED
from pipeline.code.files import CodeChanged, library_files
from pipeline.front.output.outputs import Written
from pipeline.io.files import Moment, Stat, is_settled, stat_of, unchanged

if TYPE_CHECKING:
    from pipeline.code.files import Source
    from pipeline.query.memo import Input

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_EMBEDDED = os.path.join(PACKAGE, "specs", "core", "")
LIBRARIES = ("msgspec", "xxhash", "yaml")


class OwnCode:
    """A snapshot of the source files. Modules are loaded after the process started, some after the snapshot: they are
    the snapshot's as long as the files have the same stats."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}  # by label
        self._sources: dict[str, Source] = {}  # by label, libraries too
        self._loaded: set[str] = set()  # the modules that were loaded before the snapshot
        self.stats: dict[str, Stat | None] = {}
        self.libraries = library_files(LIBRARIES)  # the files that state their versions

    def identity(self) -> tuple[str, ...]:
        """What tells this gradmill from others that use the same cache: its folder, its Python, the paths of
        libraries."""
        return (PACKAGE, sys.version, *self.libraries.values())

    def take(self, known: Mapping[str, Written]) -> dict[str, Input]:
        """Takes the snapshot, after all other inputs were read; returns the inputs, by label. `known`: the files as the
        last run recorded them. CodeChanged if a file changed since the process started: the running code, the files on
        disk and the other inputs might never have existed at the same time."""
        from pipeline.code.code import FILES
        from pipeline.code.files import Source
        from pipeline.query.database import ENGINE
        from pipeline.query.memo import Input

        self._paths = own_files()
        files = {**self._paths, **self.libraries}
        self.stats = {path: stat_of(path) for path in files.values()}
        new = {path for path in files.values() if path not in known or known[path].stat != self.stats[path]}
        self._check_running(new)
        trusted = {path: None if path in new else known[path].digest for path in files.values()}
        self._sources = {
            label: self._sources.get(label) or Source(path, trusted[path]) for label, path in files.items()
        }
        digests = {label: source.digest for label, source in self._sources.items()}  # reads new files
        if not unchanged((path, self.stats[path]) for path in new):
            raise CodeChanged
        self._loaded = set(sys.modules)
        engine = [digests[label] for label in files if label.startswith("code/pipeline/query/")]
        engine += [digests[name] for name in self.libraries]
        version = ".".join(map(str, sys.version_info[:3])).encode()
        return {
            **self._sources,
            ENGINE: Input(b"".join((*engine, version))),
            FILES: Input("\n".join(self._paths).encode()),
        }

    def _check_running(self, new: Set[str]) -> None:
        """CodeChanged if a file changed since the process started, or Python loaded older bytecode for a new one."""
        if not all(stat is None or is_settled(stat, Moment(STARTED)) for stat in self.stats.values()):
            raise CodeChanged
        modules = [path for path in self._paths.values() if path in new and path.endswith(".py")]
        if not modules:
            return
        from pipeline.code.bytecode import loaded_stale

        files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        loaded = {os.path.abspath(file) for file in files if file}
        if loaded_stale(modules, loaded, os.path.dirname(PACKAGE)):
            raise CodeChanged

    def is_unchanged(self) -> bool:
        """Whether gradmill's own files are unchanged since the snapshot."""
        return unchanged((path, self.stats[path]) for path in self._paths.values())

    def check(self) -> None:
        """CodeChanged if modules that were loaded since the snapshot, or the files next to them, may differ from it.
        Called before anything is reported or written: loaded code computes the rows, and the snapshot is their key."""
        if len(sys.modules) == len(self._loaded):
            return
        files = (getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - self._loaded)
        folders = {os.path.dirname(file) for file in files if file}
        if not unchanged((path, self.stats[path]) for path in self._paths.values() if os.path.dirname(path) in folders):
            raise CodeChanged
        self._loaded = set(sys.modules)

    def written(self) -> dict[str, Written]:
        """gradmill's own files with their stats and digests, by path."""
        files = ((path, self.stats[path], self._sources[label]) for label, path in self._paths.items())
        return {path: Written(stat, source.digest) for path, stat, source in files if stat is not None}

    def other_stats(self) -> dict[str, Stat | None]:
        """The stats of the libraries' files, and of gradmill's folders, which an added file changes."""
        folders = sorted({os.path.dirname(path) for path in self._paths.values()})
        return {path: self.stats[path] for path in self.libraries.values()} | {path: stat_of(path) for path in folders}

    def paths(self) -> list[str]:
        """The paths of gradmill's own files."""
        return list((self._paths or own_files()).values())


def own_files() -> dict[str, str]:
    """The paths of gradmill's own files by label, without the embedded spec set, an input like any other set."""
    from pipeline.code.files import source_files

    return {label: path for label, path in source_files(PACKAGE).items() if not path.startswith(_EMBEDDED)}
