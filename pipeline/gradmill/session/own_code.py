"""gradmill's own code, the libraries that its output depends on, and Python: one digest, which names the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Set
from contextlib import suppress
from importlib.machinery import PathFinder

from gradmill import STARTED
from gradmill.io.files import Moment, Stat, is_settled, read_with_stat, stat_of
from gradmill.io.stats import unchanged
from gradmill.model.entries import by_key
from gradmill.query.memo import MISSING, digest_of

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_EMBEDDED = os.path.join(PACKAGE, "specs", "core", "")
_LIBRARIES = ("msgspec", "xxhash", "yaml")


class CodeChanged(Exception):
    """gradmill's own code changed during the run: the loaded modules may be a mix of old and new code."""

    def __str__(self) -> str:
        return "gradmill's own code changed while it ran: run again"


class OwnCode:
    """A snapshot of the source files. Modules are loaded after the process started, some after the snapshot: they are
    the snapshot's as long as the files have the same stats."""

    def __init__(self) -> None:
        self._loaded: set[str] = set()  # the modules that were loaded before the snapshot
        self.digest = b""  # of the contents of all files, and of Python's version; empty before the snapshot
        self.stats: dict[str, Stat | None] = {}
        self._tables: dict[str, list[tuple[str, Stat | None]]] = {}  # by folder, those of files that are no modules
        self.libraries = library_files(_LIBRARIES)  # the files that state their versions
        self._libraries = frozenset(self.libraries.values())

    def take(self, known: Mapping[str, Stat | None], note: bytes = b"") -> None:
        """Takes the snapshot. `known`: the stats that the last run recorded, by path; `note`: that of its snapshot.
        CodeChanged if a file changed since the process started: the running code and the files might never have existed
        at the same time."""
        own = {path: stat for path, stat in known.items() if path in self._libraries or _is_own(path)}
        if note and note == self._note(note[: len(MISSING)]) and unchanged(own.items()):
            self.stats = {path: stat for path, stat in own.items() if not path.endswith(os.sep)}
            self.digest = note[: len(MISSING)]
        else:
            self._read(known)
        tables = (noted for noted in self.stats.items() if not noted[0].endswith(".py"))
        self._tables = by_key((os.path.dirname(noted[0]), noted) for noted in tables)
        self._loaded = set(sys.modules)

    def _read(self, known: Mapping[str, Stat | None]) -> None:
        """Reads all files."""
        files = {**own_files(), **self.libraries}
        read = {path: read_with_stat(path) for path in files.values()}
        self.stats = {path: stat for path, (_, stat) in read.items()}
        self._check_running({path for path in files.values() if path not in known or known[path] != self.stats[path]})
        self.digest = digest_of(sys.version_info[:3], [(name, read[path][0]) for name, path in files.items()])

    def _check_running(self, new: Set[str]) -> None:
        """CodeChanged if a file changed since the process started, or Python loaded older bytecode for a new one."""
        if not all(stat is None or is_settled(stat, Moment(STARTED)) for stat in self.stats.values()):
            raise CodeChanged
        modules = [path for path in self.paths() if path in new and path.endswith(".py")]
        if not modules:
            return
        from gradmill.session.bytecode import loaded_stale

        files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        loaded = {os.path.abspath(file) for file in files if file}
        if loaded_stale(modules, loaded, os.path.dirname(PACKAGE)):
            raise CodeChanged

    @property
    def note(self) -> bytes:
        """What a later run knows this snapshot by if the stats are unchanged."""
        return self._note(self.digest)

    def _note(self, digest: bytes) -> bytes:
        return digest + digest_of(PACKAGE, sys.version_info[:3], self.libraries)

    def check(self) -> None:
        """CodeChanged if modules that were loaded since the snapshot, or the files next to them, may differ from it.
        Called before anything is reported or written: the rows are stored under the digest of the snapshot."""
        if len(sys.modules) == len(self._loaded):
            return
        loaded = (getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - self._loaded)
        modules = {file for file in loaded if file in self.stats}
        tables = (noted for folder in set(map(os.path.dirname, modules)) for noted in self._tables.get(folder, ()))
        if not unchanged([*((file, self.stats[file]) for file in modules), *tables]):
            raise CodeChanged
        self._loaded = set(sys.modules)

    def is_sound(self) -> bool:
        """Whether what was read since the snapshot is the snapshot's: modules, as `check` finds, and other files."""
        with suppress(CodeChanged):
            self.check()
            return unchanged(noted for listed in self._tables.values() for noted in listed)
        return False

    def evidence(self) -> dict[str, Stat | None]:
        """The stats of all files, and of gradmill's folders, which an added file changes."""
        folders = sorted({f"{os.path.dirname(path)}{os.sep}" for path in self.paths()})
        return self.stats | {path: stat_of(path) for path in folders}

    def paths(self) -> list[str]:
        """The paths of gradmill's own files."""
        return [path for path in self.stats if path not in self._libraries]


def running_code() -> OwnCode:
    """A snapshot, for builds that share it. CodeChanged as in `OwnCode.take`."""
    code = OwnCode()
    code.take({})
    return code


def _is_own(path: str) -> bool:
    """Whether a path is that of a file of gradmill's own, or of a folder of such files."""
    return path.startswith(PACKAGE) and path[len(PACKAGE) :][:1] in ("", os.sep) and not path.startswith(_EMBEDDED)


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
