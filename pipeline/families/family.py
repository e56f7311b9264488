"""The definition of an output family: its units, their plans, their pieces of text, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from pipeline.families.file import CUT, File
from pipeline.model.native import FunctionHead, FunctionNames
from pipeline.model.units import Unit
from pipeline.problems.problem import Role
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.model.backends import Backend, OwnNode
    from pipeline.problems.problem import SpecError

ATEN = "aten"  # the namespace of PyTorch's functions


class Place(Struct, frozen=True):
    """The folder of a family's files in each tree, below the output folder."""

    checkout: str  # which is the root of a checkout
    csrc: str  # which is the folder `torch/csrc`


def in_csrc(folder: str) -> Place:
    """The place of a folder within `torch/csrc`."""
    return Place(f"torch/csrc/{folder}", folder)


class BackendLayout(Struct, frozen=True, array_like=True):
    """What the files of a backend need besides its functions."""

    backend: Backend
    nodes: tuple[OwnNode, ...]
    folder: str  # by which files include one another
    operator_headers: bool  # whether ATen has a header for each operator


class Layout(Struct, frozen=True, array_like=True):
    """How units are assigned to files: as upstream does it, or split over a number of shards."""

    name: Literal["upstream", "split"] = "upstream"
    shards: int = 0
    keys: tuple[str, ...] = ()  # the dispatch keys that derivatives are defined for, sorted
    underived: str = ""  # a function with a kernel and no derivatives, if no derivative is for the default key
    count: int = 0  # the number of shards; 0: upstream's
    synthesized: bool = False  # whether synthesized Nodes get Python bindings, too
    tags: tuple[str, ...] = ()  # all tags of operators, sorted
    odd_tag: tuple[str, str] | None = None  # the entry and the name of a tag that upstream cannot sort
    libraries: tuple[str, ...] = ("aten",)  # the namespaces of registrations
    registered: dict[str, str] = {}  # dispatch key of derivatives -> of registrations, if they differ
    backend: BackendLayout | None = None  # if a requested family prints a backend
    slotted: tuple[str, ...] = ()  # the templates in which a description fills holes; "" for all

    def fills(self, template: str) -> bool:
        """Whether a description fills holes of the template."""
        return "" in self.slotted or template in self.slotted


class Registered(Struct, frozen=True):
    """Where the kernels of a family are registered."""

    template: str
    hole: str
    by_key: bool = (
        False  # in blocks that the family writes, one per dispatch key, unless a description fills the template
    )


class Family(Struct, frozen=True):
    """An output family. A unit is rendered in two steps: its subject yields a plan, the plan yields pieces of text."""

    name: str
    label: str  # the plural of its units, for messages
    # all Nodes, functions, kernels of autograd, Python names, graphs, functions of a backend
    unit: Literal["Node", "function", "kernel", "binding", "graph", "backend"]
    # Reverse; NativeFunction; Served; Outputs; Binding; Binding without deprecated forms; Structseq; ViewGroup; the
    # pieces of text of a graph; BackendFunction
    subject: Literal[
        "reverse", "function", "derivatives", "outputs", "binding", "named", "structseq", "view", "graph", "backend"
    ]
    plan: Callable[[Any, Release], Any]  # from a subject to all facts that its text needs
    render: Callable[[Any, Release], dict[str, str]]  # from a plan to pieces of text, by name
    files: Callable[[Sequence[Unit], Layout, Release], list[File]]
    owns: Callable[[str], bool]  # whether a file name belongs to the family, in any layout
    pieces: tuple[str, ...] = ()  # the pieces of a unit, by the names that descriptions use
    described: bool = True  # whether a description may change the text
    templates: tuple[str, ...] = ()  # from which files are generated
    folders: tuple[str, ...] = ()  # subfolders of the output folder that have files of the family
    by_default: bool = True  # whether it is generated without being named in `families=`
    # The subsets of PyTorch's generate_code.py that write its files, with the prefix of these files' names; "": all.
    subsets: dict[str, str] = {}
    place: Place = in_csrc("autograd/generated")  # if it has subsets
    reads: tuple[Role, ...] = ()  # spec files that only this family and its like read
    needs: str = ""  # the template without which a spec set omits the family; "" if every set has all templates
    needs_file: Role | Literal[""] = ""  # the spec file without which it does
    declares: str = ""  # of a backend: the piece that the header of shape functions must have as a line
    kernels: tuple[str, ...] = ()  # of a backend: the pieces that declare a kernel
    # Of a backend: errors of its own nodes, each with the number of the node.
    check_nodes: Callable[[Sequence[OwnNode], Release], Iterable[tuple[int, SpecError]]] | None = None
    selects: Callable[[FunctionHead, Release], bool] = lambda head, release: True  # which functions are units
    shards_by: Literal["name", "cpp_name", "base"] = "name"  # the name that determines the shard of a function
    titled: Callable[[FunctionNames], str] = lambda names: names.name  # the title of a function's unit
    homes: dict[str, str] = {}  # holes that not every template needs -> the template that needs it, or ""
    cuts: dict[str, Callable[[str], str]] = {}  # functions that return a part of a piece, by name
    registered: Registered | None = None  # if its units are kernels
    marked: Callable[[Any], Any] | None = None  # marks the formulas of a plan, if it has any
    # The parts of templates that files may contain: functions of the text and its holes, by name.
    parts: dict[str, Callable[[str, Iterable[str]], str]] = {}
    shards: Callable[[Sequence[Unit], Layout, Release], dict[str, tuple[str, ...]]] | None = None  # units by shard

    def piece(self, pieces: Mapping[str, str], name: str) -> str:
        """A piece of a unit, or a part of one, as `frame of definition`; "" if it has none of that name."""
        cut, _, whole = name.partition(CUT)
        return self.cuts[cut](pieces.get(whole, "")) if cut in self.cuts else pieces.get(name, "")


@lru_cache(maxsize=8192)  # families use the same names
def shard_of(key: str, shards: int) -> int:
    """The shard of a name, as upstream computes it: string_stable_hash, SHA-1 as a little-endian number."""
    import hashlib  # only assembling files needs it

    sha1 = hashlib.sha1(key.encode("latin1", "replace"), usedforsecurity=False)
    return int.from_bytes(sha1.digest(), "little") % shards


def library_piece(piece: str, namespace: str) -> str:
    """The name of a piece that registers kernels in the library of a namespace. PyTorch's keeps the plain name."""
    return piece if namespace == ATEN else f"{piece} in {namespace}"


def generated_comment(folder: str, template: str) -> str:
    """The line that names the template of a generated file. In two parts: this source file must not match it."""
    return "@" + f"generated from {folder}/{template}"
