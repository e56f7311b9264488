"""Source files and the version files of libraries, as inputs."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

from pipeline.io.files import read_file
from pipeline.query.memo import Input

PREFIX = "code/"  # of the labels of source files


class CodeChanged(Exception):
    """gradmill's own code changed during the run: the loaded modules may be a mix of old and new code."""


class Source(Input):
    """A source file as an input. The file is read when its digest is first requested.

    `read` returns the text once and drops it, to save memory. A later `read` reads the file again, and raises
    CodeChanged if the digest changed.
    """

    __slots__ = ("_path", "_text")

    def __init__(self, path: str, trusted: bytes | None = None) -> None:
        self._path = path
        self._digest = trusted  # None: not known yet
        self._text: bytes | None = None

    @property
    def digest(self) -> bytes:
        """The digest of the file, of its absence too. Reads it unless a trusted one is known."""
        if self._digest is None:
            self._text = read_file(self._path)
            self._digest = Input(self._text).digest
        return self._digest

    def read(self) -> bytes | None:
        """The bytes with that digest, None if the file is missing. CodeChanged if they have changed since."""
        text, self._text = self._text, None
        if text is None:
            text = read_file(self._path)
            if Input(text).digest != self._digest:
                raise CodeChanged
        return text


def source_files(folder: str) -> dict[str, str]:
    """All files of the package in `folder`, without bytecode: label to path."""
    paths: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = PREFIX + os.path.basename(folder) + place[len(folder) :].replace(os.sep, "/")
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
