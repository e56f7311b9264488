"""gradmill's own code as an input: for each stage, the digest of every module it can reach, and of the libraries.

Which modules a stage reaches is read from their import statements, so that nothing can be forgotten.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import PathFinder

import msgspec
import xxhash

from pipeline.build.files import Stamps, read_file
from pipeline.model.artifact import digest_of

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_IMPORT = re.compile(
    r"^\s*(?:from (pipeline[\w.]*) import (?:\(([^)]*)\)|([\w, ]+))|import (pipeline[\w.]+))", re.MULTILINE
)
# What carries artifacts from stage to stage is part of every stage, though none imports it.
_WIRING = (
    "graph.py",
    "graph_output.py",
    "graph_shard.py",
    "build/engine.py",
    "build/journal.py",
    "build/pack.py",
    "build/step.py",
    "build/store.py",
    "build/texts.py",
)

# Data files that belong to the modules of a folder.
_DATA = {"pipeline.families.sections": ("families/nodes/node.cpp", "families/python/python.cpp")}


class Sources:
    """Digests of modules and of what they reach.

    `known` maps a digest of all of this package to what was worked out for it; it spares reading the modules.
    """

    def __init__(self, stamps: Stamps, known: dict[bytes, dict[str, bytes]]) -> None:
        self._stamps = stamps
        self._imports: dict[str, list[str]] = {}
        files = self._all_files()
        self._paths = [path for path, _ in files]
        self.tree = digest_of((self._libraries(), *(part for pair in files for part in pair)))
        self.reached = dict(known.get(self.tree, {}))
        self.changed = False

    def reached_from(self, *modules: str) -> bytes:
        """The digest of `modules`, of all that they import within this package, and of the libraries used."""
        name = " ".join(modules)
        found = self.reached.get(name)
        if found is None:
            found = digest_of((self._libraries(), *(self._file(path) for path in self.files(*modules))))
            self.reached[name] = found
            self.changed = True
        return found

    def files(self, *modules: str) -> list[str]:
        """The files that `modules` are made of, sorted."""
        reached: set[str] = set()
        waiting = list(modules)
        while waiting:
            module = waiting.pop()
            if module not in reached:
                reached.add(module)
                waiting += self._imported(module)
        files = {path for module in reached if (path := module_file(module)) is not None}
        files.update(os.path.join(PACKAGE, *name.split("/")) for name in _WIRING)
        for module in reached & _DATA.keys():
            files.update(os.path.join(PACKAGE, *name.split("/")) for name in _DATA[module])
        return sorted(files)

    def all_files(self, *, relative: bool) -> list[str]:
        """Paths of all files of this package."""
        folder = os.path.relpath(PACKAGE) if relative else PACKAGE
        return [os.path.join(folder, path) for path in self._paths]

    def _all_files(self) -> list[tuple[str, bytes]]:
        found = []
        for folder, folders, names in os.walk(PACKAGE):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(folder, name)
                found.append((os.path.relpath(path, PACKAGE), self._file(path)))
        return found

    def _file(self, path: str) -> bytes:
        return self._stamps.digest(path) or b""

    def _imported(self, module: str) -> list[str]:
        known = self._imports.get(module)
        if known is None:
            path = module_file(module)
            text = read_file(path).decode("utf-8") if path is not None else ""
            known = self._imports[module] = imported_modules(text)
        return known

    def _libraries(self) -> bytes:
        """The libraries that output depends on; PyYAML by the file that states its version, as importing it is slow."""
        yaml = PathFinder.find_spec("yaml", sys.path)
        stated = self._file(yaml.origin) if yaml is not None and yaml.origin else b""
        return digest_of((msgspec.__version__, xxhash.VERSION, stated, ".".join(map(str, sys.version_info[:3]))))


def imported_modules(text: str) -> list[str]:
    """The modules of this package that a module's text imports."""
    found = []
    for package, several, names, whole in _IMPORT.findall(text):
        if whole:
            found.append(whole)
            continue
        found.append(package)
        found += [f"{package}.{name.strip()}" for name in (several or names).split(",") if name.strip()]
    return [module for module in found if module_file(module) is not None]


def module_file(module: str) -> str | None:
    """The file of a module of this package, None for anything else."""
    base = os.path.join(os.path.dirname(PACKAGE), *module.split("."))
    for path in (f"{base}.py", os.path.join(base, "__init__.py")):
        if os.path.isfile(path):
            return path
    return None
