"""What the pages say, as data: an operator with its functions and derivatives, and what an edit of them re-makes."""

from __future__ import annotations

from msgspec import Struct

from pipeline.model.schema import SchemaKind
from pipeline.reports.coverage import Row


class Ref(Struct, frozen=True, array_like=True):
    """Something that has a place on the page of an operator: the page, the anchor there, what it is called."""

    page: str
    anchor: str
    title: str


class Relations(Struct, frozen=True, array_like=True):
    """What a function has to do with others."""

    page: str = ""
    title: str = ""  # with overload
    serves: dict[str, list[str]] = {}  # by dispatch key: the functions that its formulas serve, itself left out
    foreach: tuple[str, ...] = ()  # functions that apply it to each member of their lists
    reference: str = ""  # of such a function: what it applies
    copies: tuple[str, ...] = ()  # of a view: the function that gives a copy
    view: str = ""  # of such a copy: the view


class Placed(Struct, frozen=True, array_like=True):
    """A file that has pieces of a unit."""

    file: str
    pieces: tuple[str, ...]


class Source(Struct, frozen=True, array_like=True):
    """An entry of a spec file: the page that shows the file, its anchor there, its text."""

    file: str
    page: str
    anchor: str
    text: str


class Unit(Struct, frozen=True, array_like=True):
    """What a family prints for a function. Its text is in the rows of `emit`."""

    family: str
    name: str
    title: str
    files: tuple[str, ...]


class Formula(Struct, frozen=True, array_like=True):
    """A gradient or a tangent: what it is of, the formula as it is written, and as it is used where that differs."""

    names: tuple[str, ...]
    written: str
    used: str = ""
    missing: bool = False  # it raises an error: nobody wrote it yet


class Saved(Struct, frozen=True, array_like=True):
    """What a Node keeps from the forward pass."""

    name: str
    type: str
    expression: str
    tensor: bool


class Step(Struct, frozen=True, array_like=True):
    """An edit of one part of an entry, a unit that is made again for it, and the files that are then written."""

    edit: str
    unit: Ref
    family: str
    files: tuple[str, ...]


class Derivative(Struct, frozen=True, array_like=True):
    """The derivatives of a function under one dispatch key."""

    function: str
    schema: str
    dispatch_key: str
    node: str
    anchor: str
    unit: Unit | None  # the Node
    source: Source
    gradients: tuple[Formula, ...]
    tangents: tuple[Formula, ...]
    saved: tuple[Saved, ...]
    inputs: tuple[str, ...]
    constants: tuple[str, ...]  # inputs that are declared not differentiable
    outputs: str  # which outputs are differentiable, where the entry says so
    serves: tuple[Ref, ...]
    origin: Ref | None  # whose formulas these are, where they were made from another function's
    steps: tuple[Step, ...]


class Function(Struct, frozen=True, array_like=True):
    """One function, declared or generated."""

    title: str  # with overload
    schema: str
    kind: SchemaKind
    generated: str  # what it was generated from
    status: str  # how it is differentiated
    served_by: tuple[Ref, ...]
    view: bool
    variants: tuple[str, ...]
    tags: tuple[str, ...]
    dispatch: tuple[tuple[str, str], ...]
    delegate: str  # the function whose structured kernel it uses
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
    rows: tuple[Row, ...]  # of the report of coverage


class Summary(Struct, frozen=True, array_like=True):
    """What lists and the search say of an operator."""

    page: str
    functions: tuple[str, ...]
    nodes: tuple[tuple[str, str], ...]  # names and anchors
    traits: tuple[str, ...]
    rows: tuple[Row, ...]
