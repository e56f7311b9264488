"""Whole graphs as data: straight-line functions of operator calls, as a `.py` or a `.pt2` file says them.

A function is in static single assignment: every input and every result has a name of its own, whatever variable it was
assigned to. Calls stand in the order of execution. In-place operators and views are held as they were written: making
them functional is the next step's work. What a file says that no graph can have is no part of this model: it is a
problem, with its place.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

# What reads numbers, shapes and the like is no operator: its results carry no gradient and alias nothing. Calls to
# these have this namespace, `python::add`, and are listed in `pipeline/graphs/scalars.py`.
PYTHON = "python"


# ---- values


class Ref(Struct, frozen=True, array_like=True, tag="ref"):
    """An input or a result, by its name."""

    name: str


class Item(Struct, frozen=True, array_like=True, tag="item"):
    """One item of a list (`Tensor[]`, `int[]`) that an input or a result is. A negative index counts from the end."""

    name: str
    index: int


class Int(Struct, frozen=True, array_like=True, tag="int"):
    """A whole number."""

    value: int


class Float(Struct, frozen=True, array_like=True, tag="float"):
    """A floating-point number; infinities and nan too."""

    value: float


class Bool(Struct, frozen=True, array_like=True, tag="bool"):
    """True or False."""

    value: bool


class Str(Struct, frozen=True, array_like=True, tag="str"):
    """A text: a rounding mode, an einsum equation."""

    value: str


class Nothing(Struct, frozen=True, array_like=True, tag="none"):
    """None: an optional that is not given."""


class Constant(Struct, frozen=True, array_like=True, tag="constant"):
    """A constant of torch's, by the name that it has in Python: `float64`, `strided`, `cpu`, `channels_last`."""

    kind: Literal["ScalarType", "Layout", "Device", "MemoryFormat"]
    name: str


class Many(Struct, frozen=True, array_like=True, tag="many"):
    """A list of values."""

    values: tuple[Value, ...]


Value = Ref | Item | Int | Float | Bool | Str | Nothing | Constant | Many


# ---- functions


class Place(Struct, frozen=True, array_like=True, order=True):
    """Where something is written, in the file of its program. Lines and columns count from 1; 0: not known."""

    line: int = 0
    column: int = 0
    node: str = ""  # of a `.pt2`: the graph's node


class TensorFacts(Struct, frozen=True):
    """What a tensor must be for the graph to be right: what `.pt2` files are specialised to. To be guarded."""

    dtype: str  # `float64`
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    device: str  # `cpu`
    requires_grad: bool


Kind = Literal["user", "parameter", "buffer", "constant"]  # what an input is to the module that it is from


class Input(Struct, frozen=True):
    """An input of a function."""

    name: str
    type: (
        str  # in the schema language: `Tensor`, `Tensor?`, `Tensor[]`, `int`, `float`, `bool`, `int[]`, `str`, `Scalar`
    )
    place: Place
    kind: Kind = "user"
    source: str = ""  # of a parameter, buffer or constant: its name in the module, `layers.0.weight`
    default: Value | None = None  # None: it has to be given
    keyword_only: bool = False
    facts: TensorFacts | None = None  # None: any tensor will do
    fixed: Value | None = None  # a number that the graph is specialised to: to be guarded


class Result(Struct, frozen=True, array_like=True):
    """A result of a call."""

    name: str
    type: str  # `Tensor`, `Tensor[]`, `int`, `bool` …
    length: int | None = None  # of a list: how many items it must have, by what takes it apart; None: as many as it has
    sizes: tuple[int, ...] | None = None  # of a tensor, where the graph is specialised to that
    dtype: str = ""


class Call(Struct, frozen=True):
    """A call of an operator overload."""

    op: str  # `aten::mul_.Tensor`; `python::add`
    function: str  # its identity among the set's functions (`stages.schemas.function`); "" of `python::…`
    arguments: dict[str, Value]  # all of the schema's by name, in its order, defaults filled in
    results: tuple[Result, ...]  # as many as the schema returns; an in-place operator's result is its argument, renamed
    place: Place
    grad: bool = True  # False under `torch.no_grad()`

    @property
    def is_python(self) -> bool:
        """Whether it reads or makes numbers, and is no operator."""
        return self.op.startswith(f"{PYTHON}::")


class Output(Struct, frozen=True):
    """An output of a function."""

    value: Value
    type: str  # `Tensor`, `Tensor[]`, `int`, …; `Tensor?` where it is None


class Function(Struct, frozen=True):
    """A straight-line function."""

    name: str
    place: Place
    inputs: tuple[Input, ...]
    calls: tuple[Call, ...]
    outputs: tuple[Output, ...]  # none where the function returns nothing
    single: bool  # whether it returns a value and not a tuple
    may_alias: tuple[tuple[str, ...], ...] = ()  # groups of inputs that may share their storage
    doc: str = ""  # what the author says of it, its first line


class Program(Struct, frozen=True):
    """The functions of one file."""

    name: str  # `held_out` of `held_out.py`
    file: str  # its name within `graphs=`: `held_out.py`
    functions: tuple[Function, ...]
