"""The contents of the pages as data: an operator with its functions and derivatives, and what an edit rebuilds."""

from __future__ import annotations

from msgspec import Struct

from gradmill.model.autograd import SavedAttribute
from gradmill.model.schema import SchemaKind
from gradmill.reports.coverage import Row


class Ref(Struct, frozen=True, array_like=True):
    """A link to a function or a Node: its page, its anchor there, its title."""

    page: str
    anchor: str
    title: str


class User(Struct, frozen=True, array_like=True):
    """An entry whose formulas call something: its derivatives, and the fields that call it."""

    ref: Ref
    fields: tuple[str, ...]


class Relations(Struct, frozen=True, array_like=True):
    """The relations of a function to others."""

    page: str = ""
    title: str = ""  # with its overload name
    serves: dict[str, list[str]] = {}  # by dispatch key: the other functions that use its formulas
    foreach: tuple[str, ...] = ()  # functions that apply it to each member of their lists
    reference: str = ""  # of a foreach function: the function that it applies
    copies: tuple[str, ...] = ()  # of a view: the function that returns a copy
    view: str = ""  # of such a copy function: the view


class Placed(Struct, frozen=True, array_like=True):
    """A file that contains pieces of a unit."""

    file: str
    pieces: tuple[str, ...]


class Source(Struct, frozen=True, array_like=True):
    """An entry of a spec file: the file, its page, the entry's anchor there, and its text."""

    file: str
    page: str
    anchor: str
    text: str


class Unit(Struct, frozen=True, array_like=True):
    """The code that a family generates for a function. The text itself is in the rows of `emit`."""

    family: str
    name: str
    title: str
    files: tuple[str, ...]
    anchor: str = ""  # on its page; "" for a Node, which is shown with its derivatives

    @property
    def language(self) -> str:
        """The language of the code."""
        return "Python" if all(file.endswith(".py") for file in self.files) else "C++"


class Formula(Struct, frozen=True, array_like=True):
    """A gradient or a tangent: its variables, the formula as written, and as generated if that differs."""

    names: tuple[str, ...]
    written: str
    used: str = ""
    missing: bool = False  # not implemented: it only raises an error


class Step(Struct, frozen=True, array_like=True):
    """An edit of one part of an entry, a unit that it rebuilds, and the files that are then written."""

    edit: str
    unit: Ref
    family: str
    files: tuple[str, ...]


class Derivative(Struct, frozen=True, array_like=True):
    """The derivatives of a function under one dispatch key."""

    function: str
    schema: str
    arguments: tuple[str, ...]
    dispatch_key: str
    node: str
    anchor: str
    unit: Unit | None  # the Node
    source: Source
    gradients: tuple[Formula, ...]
    tangents: tuple[Formula, ...]
    saved: tuple[SavedAttribute, ...]
    inputs: tuple[str, ...]
    constants: tuple[str, ...]  # inputs that are declared not differentiable
    outputs: str  # which outputs are differentiable, if the entry declares it
    serves: tuple[Ref, ...]
    origin: Ref | None  # the function that these formulas are derived from, if it is another one
    steps: tuple[Step, ...]


class Function(Struct, frozen=True, array_like=True):
    """One function, declared or generated."""

    title: str  # with its overload name
    schema: str
    kind: SchemaKind
    generated: str  # the function that it was generated from
    status: str  # how autograd differentiates it
    served_by: tuple[Ref, ...]
    view: bool
    variants: tuple[str, ...]
    tags: tuple[str, ...]
    dispatch: tuple[tuple[str, str], ...]
    delegate: str  # the function that provides its structured kernel
    copies: tuple[Ref, ...]
    views: tuple[Ref, ...]
    foreach: tuple[Ref, ...]
    references: tuple[Ref, ...]
    source: Source
    units: tuple[Unit, ...]
    steps: tuple[Step, ...]


class Operator(Struct, frozen=True, array_like=True):
    """All functions of one base name, and their derivatives."""

    page: str
    namespace: str
    derivatives: tuple[Derivative, ...]
    functions: tuple[Function, ...]
    rows: tuple[Row, ...]  # of the coverage report


class Listed(Struct, frozen=True, array_like=True):
    """A function in lists."""

    title: str
    kind: SchemaKind
    status: str  # how autograd differentiates it
    served_by: tuple[Ref, ...]
    view: bool
    generated: bool


class Summary(Struct, frozen=True, array_like=True):
    """An operator in lists and in the search."""

    page: str
    functions: tuple[Listed, ...]
    nodes: tuple[tuple[str, str], ...]  # names and anchors
    traits: tuple[str, ...]
    rows: tuple[Row, ...]


class ListedNode(Struct, frozen=True, array_like=True):
    """A Node in lists."""

    page: str
    row: Row
    forward: tuple[str, ...]  # formulas as written, those of a foreach Node are its reference's


class LineageFamily(Struct, frozen=True, array_like=True):
    """An output family in the lineage of a set."""

    label: str
    units: int
    nodes: bool  # its units are the Nodes
    differentiated: bool  # derivatives determine its units
    files: tuple[tuple[str, int], ...]  # each with its number of units


class Lineage(Struct, frozen=True, array_like=True):
    """A whole set, from its files to the generated ones."""

    sources: tuple[tuple[str, str, int, bool], ...]  # page, file, number of entries, whether these are derivatives
    functions: int
    nodes: int
    families: tuple[LineageFamily, ...]
