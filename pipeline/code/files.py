"""Source files as inputs, and those that state the versions of libraries."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

from pipeline.io.files import read_file
from pipeline.query.memo import Input

PREFIX = "code/"  # of the labels of source files


class CodeChanged(Exception):
    """The program's own code changed while it ran: what runs is neither the old nor the new one."""


class Source(Input):
    """A source file as an input. It is read when its digest is asked for; its text is let go of once somebody had it,
    as there are many, and read again for who has it again: CodeChanged where it is another one then."""

    __slots__ = ("_path", "_text")

    def __init__(self, path: str, trusted: bytes | None = None) -> None:
        self._path = path
        self._digest = trusted  # where that is known
        self._text: bytes | None = None

    @property
    def digest(self) -> bytes:
        if self._digest is None:
            self._text = read_file(self._path)
            self._digest = Input(self._text).digest
        return self._digest

    def read(self) -> bytes | None:
        text, self._text = self._text, None
        if text is None:
            text = read_file(self._path)
            if Input(text).digest != self._digest:
                raise CodeChanged
        return text


def source_files(folder: str) -> dict[str, str]:
    """All files of the package in `folder`: label to path."""
    found = {}
    package = os.path.basename(folder)
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = place[len(folder) + 1 :]
        for name in sorted(names):
            label = "/".join(part for part in (package, inside.replace(os.sep, "/"), name) if part)
            found[PREFIX + label] = os.path.join(place, name)
    return found


def library_files(names: tuple[str, ...]) -> dict[str, str]:
    """The files that state the versions of libraries, which are not imported for that."""
    found = {}
    for name in names:
        spec = PathFinder.find_spec(name, sys.path)
        if spec is not None and spec.origin:
            found[name] = spec.origin
            version = os.path.join(os.path.dirname(spec.origin), "_version.py")
            if os.path.isfile(version):
                found[f"{name} version"] = version
    return found
