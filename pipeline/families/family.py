"""What an output family is: its units, the plan of one, the pieces of its text, and the files they make up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from pipeline.families.file import CUT, File
from pipeline.model.native import FunctionHead, FunctionNames
from pipeline.model.units import Unit
from pipeline.releases.model import Release

ATEN = "aten"  # the namespace of PyTorch's functions


class Layout(Struct, frozen=True, array_like=True):
    """How units are put into files: as upstream has them, or split over so many shards."""

    name: Literal["upstream", "split"] = "upstream"
    shards: int = 0
    keys: tuple[str, ...] = ()  # the dispatch keys that derivatives are written for, sorted
    underived: str = ""  # a function that has a kernel and no derivatives, where these are for no default key
    count: int = 0  # of shards, where it is not upstream's
    synthesized: bool = False  # whether synthesized Nodes get Python bindings too
    libraries: tuple[str, ...] = ("aten",)  # the namespaces of registrations
    registered: dict[str, str] = {}  # dispatch keys of derivatives -> of registrations, where the two differ
    slotted: tuple[str, ...] = ()  # the templates whose holes a description fills; "" for all

    def fills(self, template: str) -> bool:
        """Whether a description fills holes of a template."""
        return "" in self.slotted or template in self.slotted


class Registered(Struct, frozen=True):
    """Where the kernels of a family are registered."""

    template: str
    hole: str
    by_key: bool = False  # in blocks that the family makes, one a dispatch key, unless a description fills the template


class Family(Struct, frozen=True):
    """An output: all that is known of it. What is printed of a unit is planned first, from its subject."""

    name: str
    label: str  # what several of its units are called
    unit: Literal["Node", "function", "kernel", "graph"]  # all Nodes, functions, kernels of autograd, graphs
    # Reverse; NativeFunction; Served; Outputs; the pieces of text of a graph
    subject: Literal["reverse", "function", "derivatives", "outputs", "graph"]
    plan: Callable[[Any, Release], Any]  # a subject to what is printed of it
    render: Callable[[Any, Release], dict[str, str]]  # a plan to pieces of text, by name
    files: Callable[[Sequence[Unit], Layout, Release], list[File]]
    owns: Callable[[str], bool]  # whether a file of this name is one of its files, in whatever layout
    pieces: tuple[str, ...] = ()  # what is printed of a unit, in the words of descriptions
    described: bool = True  # whether a description may change what is printed
    templates: tuple[str, ...] = ()  # of which files are made
    folders: tuple[str, ...] = ()  # that files are in, besides that of all generated files
    needs: str = ""  # the one without which a spec set leaves the family out; "" where every set has all
    selects: Callable[[FunctionHead, Release], bool] = lambda head, release: True  # which functions are units
    shards_by: Literal["name", "cpp_name", "base"] = "name"  # what the shard of a function is chosen by
    titled: Callable[[FunctionNames], str] = lambda names: names.name  # what the unit of a function is called
    homes: dict[str, str] = {}  # holes that not each template needs, with the one that does; "" where none does
    cuts: dict[str, Callable[[str], str]] = {}  # parts of pieces, by name
    registered: Registered | None = None  # where kernels are its units
    marked: Callable[[Any], Any] | None = None  # a plan to one with marks around its formulas, where it has any
    # What files may have of their templates: by name, how it is cut out of a text around holes.
    parts: dict[str, Callable[[str, Iterable[str]], str]] = {}
    shards: Callable[[Sequence[Unit], Layout, Release], dict[str, tuple[str, ...]]] | None = None  # units by shard

    def piece(self, pieces: Mapping[str, str], name: str) -> str:
        """A piece of a unit, or a part of one, `frame of definition`; "" where it has none of that name."""
        cut, _, whole = name.partition(CUT)
        return self.cuts[cut](pieces.get(whole, "")) if cut in self.cuts else pieces.get(name, "")


@lru_cache(maxsize=8192)  # families ask for the same names
def shard_of(key: str, shards: int) -> int:
    """The shard that upstream puts a name into: string_stable_hash, SHA-1 read as a little-endian number."""
    import hashlib  # for those who put files together

    sha1 = hashlib.sha1(key.encode("latin1", "replace"), usedforsecurity=False)
    return int.from_bytes(sha1.digest(), "little") % shards


def library_piece(piece: str, namespace: str) -> str:
    """What a registration in another library than PyTorch's goes by."""
    return piece if namespace == ATEN else f"{piece} in {namespace}"


def generated_comment(folder: str, template: str) -> str:
    """The line that says where a file came from; in two parts, so that it marks nothing but generated files."""
    return "@" + f"generated from {folder}/{template}"
