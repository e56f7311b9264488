"""gradmill's own code, the libraries that its output depends on, and Python: one digest, which names the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Set
from importlib.machinery import PathFinder

from gradmill import STARTED
from gradmill.io.files import Moment, Stat, is_settled, read_with_stat, stat_of, unchanged
from gradmill.model.entries import by_key

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_EMBEDDED = os.path.join(PACKAGE, "specs", "core", "")
_LIBRARIES = ("msgspec", "xxhash", "yaml")
RUN_AGAIN = "gradmill's own code changed while it ran: run again"  # what a run reports of CodeChanged


class CodeChanged(Exception):
    """gradmill's own code changed during the run: the loaded modules may be a mix of old and new code."""


class OwnCode:
    """A snapshot of the source files. Modules are loaded after the process started, some after the snapshot: they are
    the snapshot's as long as the files have the same stats."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}  # by name
        self._loaded: set[str] = set()  # the modules that were loaded before the snapshot
        self.digest = b""  # of the contents of all files, and of Python's version; empty before the snapshot
        self.stats: dict[str, Stat | None] = {}
        self._by_folder: dict[str, list[tuple[str, Stat | None]]] = {}  # the same
        self.libraries = library_files(_LIBRARIES)  # the files that state their versions

    def take(self, known: Mapping[str, Stat | None]) -> bytes:
        """Takes the snapshot; the digest. `known`: the stats that the last run recorded, by path. CodeChanged if a file
        changed since the process started: the running code and the files might never have existed at the same time."""
        from gradmill.query.memo import digest_of

        self._paths = own_files()
        files = {**self._paths, **self.libraries}
        read = {path: read_with_stat(path) for path in files.values()}
        self.stats = {path: stat for path, (_, stat) in read.items()}
        self._by_folder = by_key((os.path.dirname(path), noted) for path, noted in zip(self.stats, self.stats.items()))
        self._check_running({path for path in files.values() if path not in known or known[path] != self.stats[path]})
        self._loaded = set(sys.modules)
        self.digest = digest_of(sys.version_info[:3], [(name, read[path][0]) for name, path in files.items()])
        return self.digest

    def _check_running(self, new: Set[str]) -> None:
        """CodeChanged if a file changed since the process started, or Python loaded older bytecode for a new one."""
        if not all(stat is None or is_settled(stat, Moment(STARTED)) for stat in self.stats.values()):
            raise CodeChanged
        modules = [path for path in self._paths.values() if path in new and path.endswith(".py")]
        if not modules:
            return
        from gradmill.session.bytecode import loaded_stale

        files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        loaded = {os.path.abspath(file) for file in files if file}
        if loaded_stale(modules, loaded, os.path.dirname(PACKAGE)):
            raise CodeChanged

    def is_unchanged(self) -> bool:
        """Whether the files are unchanged since the snapshot."""
        return unchanged(self.stats.items())

    def check(self) -> None:
        """CodeChanged if modules that were loaded since the snapshot, or the files next to them, may differ from it.
        Called before anything is reported or written: the rows are stored under the digest of the snapshot."""
        if len(sys.modules) == len(self._loaded):
            return
        files = (getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - self._loaded)
        folders = {os.path.dirname(file) for file in files if file}
        if not unchanged(noted for folder in folders for noted in self._by_folder.get(folder, ())):
            raise CodeChanged
        self._loaded = set(sys.modules)

    def evidence(self) -> dict[str, Stat | None]:
        """The stats of all files, and of gradmill's folders, which an added file changes."""
        return self.stats | {path: stat_of(path) for path in sorted(set(map(os.path.dirname, self._paths.values())))}

    def paths(self) -> list[str]:
        """The paths of gradmill's own files."""
        return list((self._paths or own_files()).values())


def running_code() -> OwnCode:
    """A snapshot, for builds that share it. CodeChanged as in `OwnCode.take`."""
    code = OwnCode()
    code.take({})
    return code


def own_files() -> dict[str, str]:
    """gradmill's own files, without bytecode: the name below the package to the path. The embedded spec set is none of
    them: it is an input like any other set."""
    paths: dict[str, str] = {}
    for place, folders, names in os.walk(PACKAGE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = place[len(PACKAGE) + 1 :].replace(os.sep, "/")
        paths.update((f"{inside}/{name}", f"{place}{os.sep}{name}") for name in sorted(names))
    return {name: path for name, path in paths.items() if not path.startswith(_EMBEDDED)}


def library_files(names: tuple[str, ...]) -> dict[str, str]:
    """The files that state the versions of libraries: name to path. Imports none of the libraries."""
    paths = {}
    for name in names:
        spec = PathFinder.find_spec(name, sys.path)
        if spec is not None and spec.origin:
            paths[name] = spec.origin
            version = os.path.join(os.path.dirname(spec.origin), "_version.py")
            if os.path.isfile(version):
                paths[f"{name} version"] = version
    return paths
