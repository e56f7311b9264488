"""`graphs=PATH`: the files of whole graphs, a file or those of a folder."""

from __future__ import annotations

import os

from msgspec import Struct

from pipeline.problems.problem import SpecError, nearest
from pipeline.specs.location import Location

ENDINGS = (".py", ".pt2")


class Archive(Struct, frozen=True):
    """A `.pt2` file, of which the model is read and no weights."""

    path: str

    def read(self) -> bytes:
        """The bytes of the model; OSError when there are none that can be read."""
        from pipeline.graphs.exported.archive import read_model

        return read_model(self.path)


def _at(path: str) -> Location | Archive:
    return Archive(path) if path.endswith(".pt2") else Location(path)


class GraphFiles(Struct, frozen=True):
    """Where graphs are. A folder is looked at each time, since files come and go."""

    given: str = ""  # as the command line says it; "" where there are none

    def files(self) -> dict[str, Location | Archive]:
        """The files by name, sorted."""
        if not self.given:
            return {}
        if not os.path.isdir(self.given):
            return {os.path.basename(self.given): _at(self.given)}
        try:
            names = sorted(os.listdir(self.given))
        except OSError:
            names = []
        return {name: _at(os.path.join(self.given, name)) for name in names if _is_graph(name)}

    def paths(self) -> list[str]:
        """Where they are."""
        return [at.path for at in self.files().values()]

    def has(self, path: str) -> bool:
        """Whether an absolute path is that of one of them; in a folder also of one that is not there yet."""
        whole = os.path.abspath(self.given) if self.given else ""
        folder, name = os.path.split(path)
        return bool(whole) and (path == whole or (folder == whole and _is_graph(name)))

    def path(self, name: str) -> str:
        """Where one of them is."""
        return os.path.join(self.given, name) if os.path.isdir(self.given) else self.given


NO_GRAPHS = GraphFiles()


def _is_graph(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith((".", "_"))


def find_graphs(value: str) -> GraphFiles:
    """What `graphs=` names; a SpecError where that is nothing."""
    if not value:
        return NO_GRAPHS
    found = GraphFiles(value)
    if not os.path.lexists(value):
        folder = os.path.dirname(value) or "."
        near = os.listdir(folder) if os.path.isdir(folder) else []
        raise SpecError(f"graphs={value}: there is no such file or folder", nearest(os.path.basename(value), near))
    if not os.path.isdir(value) and not value.endswith(ENDINGS):
        raise SpecError(
            f"graphs={value}: this is neither a .py nor a .pt2 file", "name such a file, or a folder of them"
        )
    if not found.files():
        raise SpecError(f"graphs={value}: the folder has no .py and no .pt2 file", "name a folder that has some")
    return found


def read_namespace(value: str) -> str:
    """The namespace of the operators that graphs become; a SpecError for what is none."""
    if not (value.isidentifier() and value.isascii()):
        raise SpecError(f"namespace={value}: this is no name in C++", "write letters, digits and underscores")
    if value in ("aten", "prim", "prims"):
        raise SpecError(f"namespace={value}: this is PyTorch's own", "write another name")
    return value
