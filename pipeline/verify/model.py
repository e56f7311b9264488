"""What is verified, as data: one Node's formulas, and the library's functions for them."""

from __future__ import annotations

from msgspec import Struct


class Tangent(Struct, frozen=True):
    """A formula for tangents: its function in the library, its outputs, and the inputs whose tangents it reads."""

    symbol: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]


class Subject(Struct, frozen=True):
    """The formulas of one Node, or of one operator without a backward formula."""

    name: str  # the Node, or the operator
    operator: str  # with overload and namespace: `aten::mul.Tensor`
    entry: str  # of derivatives.yaml
    schema: str
    formulas: tuple[tuple[str, str], ...]  # as written: the key, the text
    inputs: tuple[str, ...]  # the arguments with a backward formula
    outputs: tuple[str, ...]
    differentiable: tuple[bool, ...]  # of each output
    not_implemented: tuple[str, ...]  # of `inputs`: the formula only raises an error
    backward: str  # its function in the library; "" if there is none
    tangents: tuple[Tangent, ...]
    variants: tuple[str, ...] = ()  # in-place functions that use the same formulas
    foreach: bool = False  # synthesized: the operator applies another one to each member of its lists
    key: str = "Default"  # the dispatch key


class Code(Struct, frozen=True):
    """The C++ of a subject: its functions, and the headers that they need. The text is the same for every subject that
    has it, whatever its place in the file."""

    subject: Subject
    text: str
    types: frozenset[str]  # the C++ types of its values
    digest: str  # of all that decides the verdict, but torch
