"""`graphs=PATH`: the files of whole graphs. PATH is a file or a folder of files."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from gradmill.problems.problem import SpecError, nearest
from gradmill.specs.location import Location

ENDINGS = (".py", ".pt2")


class Archive(Struct, frozen=True):
    """A `.pt2` file. Only its model is read, not its weights."""

    path: str

    def read(self) -> bytes:
        """The bytes of the model. OSError if they cannot be read."""
        from gradmill.extensions.graphs.exported.archive import read_model

        return read_model(self.path)


def _at(path: str) -> Location | Archive:
    return Archive(path) if path.endswith(".pt2") else Location(path)


class GraphFiles(Struct, frozen=True):
    """The location of graphs. A folder is listed on each call, as its files may change."""

    root: str = ""  # a file or a folder: the value of `graphs=`; "" without it

    def files(self) -> dict[str, Location | Archive]:
        """The files by name, sorted; empty if the folder cannot be listed."""
        if not self.root:
            return {}
        if not os.path.isdir(self.root):
            return {os.path.basename(self.root): _at(self.root)}
        try:
            names = sorted(os.listdir(self.root))
        except OSError:
            names = []
        return {name: _at(os.path.join(self.root, name)) for name in names if _is_graph(name)}

    def paths(self) -> list[str]:
        """The paths of the files."""
        return [at.path for at in self.files().values()]

    def has(self, path: str) -> bool:
        """Whether an absolute path is that of a graph file. In a folder of graphs, the file need not exist yet."""
        whole = os.path.abspath(self.root) if self.root else ""
        folder, name = os.path.split(path)
        return bool(whole) and (path == whole or (folder == whole and _is_graph(name)))

    def path(self, name: str) -> str:
        """The path of the graph file called `name`."""
        return os.path.join(self.root, name) if os.path.isdir(self.root) else self.root


NO_GRAPHS = GraphFiles()


def _is_graph(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith((".", "_"))


def nearest_file(path: str) -> str:
    """A hint with the nearest name in the folder of a file that is not there."""
    folder = os.path.dirname(path) or os.curdir
    return nearest(os.path.basename(path), os.listdir(folder) if os.path.isdir(folder) else [])


def find_graphs(value: str) -> GraphFiles:
    """The graph files that `graphs=` names. SpecError if there are none."""
    if not value:
        return NO_GRAPHS
    graphs = GraphFiles(value)
    if not os.path.lexists(value):
        raise SpecError(f"graphs={value}: there is no such file or folder", nearest_file(value))
    if not os.path.isdir(value) and not value.endswith(ENDINGS):
        raise SpecError(
            f"graphs={value}: this is neither a .py nor a .pt2 file", "name such a file, or a folder of them"
        )
    if not graphs.files():
        raise SpecError(f"graphs={value}: the folder has no .py and no .pt2 file", "name a folder that has some")
    return graphs


def read_device(value: str) -> str:
    """The checked value of `device=`, `cuda` or `cuda:1`. SpecError if it is not of the form of PyTorch devices."""
    if value and not re.fullmatch(r"[a-z_]+(:\d{1,3})?", value, re.ASCII):
        raise SpecError(f"device={value}: not a device", "write its type, as in cuda, or an index, too: cuda:1")
    return value


def read_namespace(value: str) -> str:
    """The checked value of `namespace=`: the C++ namespace of the operators of graphs. SpecError if it is not valid."""
    if not (value.isidentifier() and value.isascii()):
        raise SpecError(f"namespace={value}: not a valid C++ identifier", "write letters, digits and underscores")
    if re.match("_[_A-Z]", value):
        raise SpecError(
            f"namespace={value}: C++ reserves names that begin like this", "write it without the underscore"
        )
    if value in ("aten", "prim", "prims"):
        raise SpecError(f"namespace={value}: this is PyTorch's own", "write another name")
    return value
