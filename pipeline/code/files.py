"""The files that all results depend on: gradmill's own, and those that state the versions of libraries."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder


class CodeChanged(Exception):
    """gradmill's own code changed during the run: the loaded modules may be a mix of old and new code."""


def source_files(folder: str) -> dict[str, str]:
    """All files of the package in `folder`, without bytecode: the name below it to the path."""
    paths: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = place[len(folder) + 1 :].replace(os.sep, "/")
        paths.update((f"{inside}/{name}", f"{place}{os.sep}{name}") for name in sorted(names))
    return paths


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
