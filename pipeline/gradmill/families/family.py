"""The definition of an output family: its units, their pieces of text, and its files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from gradmill.cpp.kernel_names import kernel_title
from gradmill.doors import FamilyRow
from gradmill.families.file import CUT, File, pieces_in
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.template import items_of
from gradmill.model.native import FunctionNames, FunctionSummary
from gradmill.model.units import Unit
from gradmill.problems.problem import Role
from gradmill.releases.model import Release

if TYPE_CHECKING:
    from gradmill.model.backends import Backend, OwnNode
    from gradmill.problems.problem import SpecError

OPERATORS = "ops"  # the folder of headers that each operator has
ATEN = "aten"  # the namespace of PyTorch's functions
# Pieces of many families. Of kernels, only descriptions use the declaration, the head of the definition.
INCLUDE, DECLARATION, DEFINITION, REGISTRATION = "include", "declaration", "definition", "registration"
REVERSE, DERIVATIVES, OUTPUTS = "match.reverse", "kernels.function_with_derivatives", "kernels.outputs"  # subjects
AUTOGRAD_DECLARATION, WRAPPER = "autograd_declaration", "wrapper"  # of a backend: of a kernel for autograd's key, …


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
    given: dict[str, Any] = {}  # by family: what its `given` returns
    operator_headers: bool = True  # whether each operator has headers in ATen
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


class Family:
    """An output family, which has a row in the table. A subclass declares what differs. The rest is found in the module
    `text` next to its own: `render` takes the subject of a unit and the release, and returns all pieces of the unit's
    text. The module is imported when a unit is rendered.
    """

    name: str  # of its folder and its row, too
    label: str  # the plural of its units, for messages
    unit: str = "function"  # the kind of its units, one of stages/kinds
    subject: str = "schemas.function"  # the function of stages that returns what a unit is rendered from
    order: str = "schemas.of_file"  # the function of stages that sorts the units, if they are functions
    given: str = ""  # the function of stages that returns what its files need besides units, of the family
    rendered: tuple[str, ...] = ()  # the pieces of a unit
    words: tuple[str, ...] = ()  # those that are one word, the same within a line as in a block
    slots: dict[str, str] = {}  # holes of the templates, of which each has some -> the piece that fills it
    homes: dict[str, str] = {}  # holes that not every template needs -> the template that needs it, or ""
    folders: tuple[str, ...] = ()  # subfolders of the output folder that have files of the family
    whole: str = ""  # the module that assembles its files, if each is made as a whole: `whole`, `more`
    described: bool = True  # whether a description may change the text
    runs_code: bool = False  # whether it runs code of the set, which editors do if the user allows it
    shards_by: Literal["name", "cpp_name", "base"] = "name"  # the name that determines the shard of a function
    # The lists over all functions that its files print, by their names in stages/name_lists.py, which gives them.
    lists: tuple[str, ...] = ()
    selective: bool = False  # whether only functions that `operators=` selects, for training or not, are units
    registered: Registered | None = None  # if its units are kernels
    known: re.Pattern[str] | None = None  # the names of its files in any layout, if they are not those of its templates
    completes: str = ""  # if functions with autograd kernels need its units, too: what autograd lacks without them
    kernel: str = ""  # the word before the names of kernels in titles: `TraceType`
    has_formulas: bool = False  # whether units print formulas of entries, between markers if asked for
    cuts: dict[str, Callable[[str], str]] = {}  # functions that return a part of a piece, by name
    # The parts of templates that files may contain: functions of the text and its holes, by name.
    parts: dict[str, Callable[[str, Iterable[str]], str]] = {}

    @property
    def row(self) -> FamilyRow:
        """Its row in the table."""
        return FAMILY_ROWS[self.name]

    def render(self, subject: Any, release: Release, *, markers: bool = False) -> dict[str, str]:
        """The pieces of a unit's text, by name. `markers`: whether formulas stand between markers that name their
        field of the unit's entry. Raises SpecError for a unit that has none."""
        of_formulas = {"markers": markers} if self.has_formulas else {}
        pieces: dict[str, str] = _text(type(self).__module__).render(subject, release, **of_formulas)
        return pieces

    def is_in(self, release: Release) -> bool:
        """Whether the release has the family; one that it lacks is left out of a subset."""
        return True

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function is a unit."""
        return True

    def titled(self, names: FunctionNames) -> str:
        """The title of a function's unit."""
        return kernel_title(names, self.kernel) if self.kernel else names.name

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The files: by default one for each template, with all units."""
        names = tuple(unit.name for unit in units)
        return [
            File(name=os.path.basename(name), template=name, holes=pieces_in(self.slots), units=names)
            for name in self.row.templates
        ]

    def owns(self, name: str) -> bool:
        """Whether a file name belongs to the family, in any layout."""
        if self.known is not None:
            return self.known.fullmatch(name) is not None
        return name in map(os.path.basename, self.row.templates)

    def comment_of(self, file: File, folder: str) -> str:
        """The generated comment of a file; `folder`: that of the templates."""
        return file.comment or generated_comment(folder, file.made_of)

    @property
    def pieces(self) -> tuple[str, ...]:
        """The pieces of a unit, by the names that descriptions use."""
        return (*self.rendered, DECLARATION) if self.registered is not None else self.rendered

    def piece(self, pieces: Mapping[str, str], name: str) -> str:
        """A piece of a unit, or a part of one, as `frame of definition`; "" if it has none of that name."""
        cut, _, whole = name.partition(CUT)
        return self.cuts[cut](pieces.get(whole, "")) if cut in self.cuts else pieces.get(name, "")

    def items(self, pieces: Mapping[str, str], name: str) -> list[str]:
        """The items that a unit adds to the list in a hole; none if it has no such piece."""
        return items_of(self.piece(pieces, name)) if name.rpartition(CUT)[2] in pieces else []


class BackendFamily(Family):
    """A family that prints a backend outside of ATen, which a spec file describes."""

    unit, given = "backend", "backend.layout"
    role: Role  # of the file that describes the backend, which it needs
    described = False
    declares: str = ""  # the piece that the header of shape functions must have as a line, if there is one
    kernels = (DECLARATION, AUTOGRAD_DECLARATION)  # the pieces that declare a kernel

    def check_nodes(self, nodes: Sequence[OwnNode], release: Release) -> Iterable[tuple[int, SpecError]]:
        """The errors of the backend's own nodes, each with the number of its node."""
        return ()


@cache
def _text(module: str) -> ModuleType:
    return import_module(f"{sys.modules[module].__package__}.text")


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


def comment_of_script(script: str, template: str) -> str:
    """The same line as those scripts of PyTorch write it that name themselves."""
    return "@" + f"generated by {script} from {template}"
