"""`graphs=PATH`: the files of whole graphs, a file or a folder of files; the variables that say how they are read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gradmill.problems.problem import SpecError
from gradmill.specs.location import Location, nearest_file

if TYPE_CHECKING:
    from gradmill.session.settings.variables import Variable

ENDINGS = (".py", ".pt2")


def variables() -> dict[str, Variable]:
    """The variables of the command line, by name."""
    from gradmill.session.settings.variables import Fraction, Variable, flag

    return {
        "graphs": Variable(
            "Python or .pt2 files with functions to generate forward and backward C++ for", path=ENDINGS, since="2.10"
        ),
        "namespace": Variable("the namespace of the operators of graphs; gradmill by default", "gradmill"),
        "double_backward": flag("double_backward=1: gradients of graphs can be differentiated again"),
        "decomposed": flag("decomposed=1: exported models may be decomposed, although detach() is lost then"),
        "memory": Variable(
            "memory=0.5: graphs save half as much, and compute the rest again in the backward", "1", Fraction
        ),
        "device": Variable("device=cuda: exported models create tensors there, and not on the device of the export"),
    }


class Archive(Struct, frozen=True):
    """A `.pt2` file. Only its model is read, not its weights."""

    path: str

    def read(self) -> bytes:
        """The bytes of the model. OSError if they cannot be read."""
        from gradmill.extensions.graphs.read.exported.archive import read_model

        return read_model(self.path)


def _at(path: str) -> Location | Archive:
    return Archive(path) if path.endswith(".pt2") else Location(path)


class GraphRequest(Struct, frozen=True):
    """The graphs that the command line names."""

    files: list[str]  # names within `graphs=`, sorted
    namespace: str  # of the operators that they become
    double_backward: bool = False  # whether their gradients can be differentiated again
    device: str = ""  # where exported models create tensors; "": on the device of the export
    memory: float = 1.0  # the fraction of what their backward uses that may be held for it
    decomposed: bool = False  # whether they may be models that were decomposed after their export


class GraphFiles(Struct, frozen=True):
    """The location of graphs. A folder is listed on each call, as its files may change."""

    root: str  # a file or a folder: the value of `graphs=`
    wanted: GraphRequest  # without files

    def files(self) -> dict[str, Location | Archive]:
        """The files by name, sorted; empty if the folder cannot be listed."""
        if not os.path.isdir(self.root):
            return {os.path.basename(self.root): _at(self.root)}
        try:
            names = sorted(os.listdir(self.root))
        except OSError:
            names = []
        return {name: _at(os.path.join(self.root, name)) for name in names if _is_graph(name)}

    def has(self, path: str) -> bool:
        """Whether an absolute path is that of a graph file. In a folder of graphs, the file need not exist yet."""
        whole = os.path.abspath(self.root)
        folder, name = os.path.split(path)
        return path == whole or (folder == whole and _is_graph(name))

    def path(self, name: str) -> str:
        """The path of the graph file called `name`."""
        return os.path.join(self.root, name) if os.path.isdir(self.root) else self.root

    def request(self, files: list[str]) -> GraphRequest:
        """The graphs with these files."""
        return replace(self.wanted, files=files)


def _is_graph(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith((".", "_"))


def read_graphs(values: Mapping[str, Any]) -> GraphFiles | None:
    """The graph files that `graphs=` names; None without it. SpecError if there are none, or for another value that is
    not valid."""
    wanted = GraphRequest(
        files=[],
        namespace=read_namespace(values["namespace"]),
        double_backward=values["double_backward"],
        device=read_device(values["device"]),
        memory=values["memory"],
        decomposed=values["decomposed"],
    )
    value = values["graphs"]
    if not value:
        return None
    graphs = GraphFiles(value, wanted)
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
