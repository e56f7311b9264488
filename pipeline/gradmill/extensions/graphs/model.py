"""Whole graphs as data: straight-line functions of operator calls, read from a `.py` or a `.pt2` file.

A function is in static single assignment form: every input and every result has its own name, whatever variable it was
assigned to. Calls are in the order of execution. In-place operators and views are kept as written; the next step makes
them functional. Source that a graph does not support is not part of this model: it is reported as a problem, with its
place.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gradmill.problems.problem import SpecError

# Calls that compute numbers, shapes and the like are not operators: their results carry no gradient and alias nothing.
# They have this namespace, `python::add`, and are listed in `pipeline/gradmill/extensions/graphs/scalars.py`.
PYTHON = "python"


# ---- values


class Ref(Struct, frozen=True, array_like=True, tag="ref"):
    """An input or a result, by its name."""

    name: str


class Item(Struct, frozen=True, array_like=True, tag="item"):
    """One item of an input or a result that is a list (`Tensor[]`, `int[]`). A negative index counts from the end."""

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
    """A string: a rounding mode, an einsum equation."""

    value: str


class Nothing(Struct, frozen=True, array_like=True, tag="none"):
    """None: an omitted optional."""


class Constant(Struct, frozen=True, array_like=True, tag="constant"):
    """A torch constant, by its Python name: `float64`, `strided`, `cpu`, `channels_last`."""

    kind: Literal["ScalarType", "Layout", "Device", "MemoryFormat"]
    name: str


class Many(Struct, frozen=True, array_like=True, tag="many"):
    """A list of values."""

    values: tuple[Value, ...]


Value = Ref | Item | Int | Float | Bool | Str | Nothing | Constant | Many


# ---- functions


class Place(Struct, frozen=True, array_like=True, order=True):
    """A position in the file of a program. Lines and columns count from 1; 0 means unknown."""

    line: int = 0
    column: int = 0
    node: str = ""  # in a `.pt2`: the name of the graph's node
    source: str = ""  # and the line of the model that made it, `model.py:12`, if the file tells

    @property
    def shown(self) -> str:
        """The line, or else the node, for comments."""
        return f"line {self.line}" if self.line else self.node


class GraphError(SpecError):
    """A construct of a function that a graph does not support. `others` are further errors of the same function."""

    def __init__(self, place: Place, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)
        self.place = place


ANY = -1  # a size or stride that calls of the function check


class TensorFacts(Struct, frozen=True):
    """The tensor metadata that a `.pt2` file is specialised to. The generated code guards it."""

    dtype: str  # `float64`
    sizes: tuple[int, ...]  # ANY if it is known at run time only
    strides: tuple[int, ...]
    device: str  # `cpu`
    requires_grad: bool


Kind = Literal["user", "parameter", "buffer", "constant"]  # the role of an input in its module


class Input(Struct, frozen=True):
    """An input of a function."""

    name: str
    type: str  # in the schema language: `Tensor`, `Tensor?`, `Tensor[]`, `int`, `float`, `bool`, `int[]`, `Scalar` …
    place: Place
    kind: Kind = "user"
    source: str = ""  # of a parameter, buffer or constant: its name in the module, `layers.0.weight`
    stored: bool = True  # of a buffer: whether it is in the module's `state_dict()`
    tied: str = ""  # the `source` of an earlier input that is the same tensor of the module
    default: Value | None = None  # None: required
    keyword_only: bool = False
    facts: TensorFacts | None = None  # None: any tensor is accepted
    fixed: Value | None = None  # a number that the graph is specialised to; the generated code guards it


class Result(Struct, frozen=True, array_like=True):
    """A result of a call."""

    name: str
    type: str  # `Tensor`, `Tensor[]`, `int`, `bool` …
    length: int | None = None  # of a list that is unpacked: the required number of items; None: any
    sizes: tuple[int, ...] | None = None  # of a tensor, if the graph is specialised to them
    dtype: str = ""
    items: tuple[tuple[tuple[int, ...], str] | None, ...] = ()  # of a list: the sizes and dtype of each item, if known


class Call(Struct, frozen=True):
    """A call of an operator overload."""

    op: str  # `aten::mul_.Tensor`; `python::add`
    function: str  # its identity among the set's functions (`stages.schemas.function`), or in `Function.callees`; ""
    # for `python::…`
    arguments: dict[str, Value]  # all of the schema's arguments by name, in schema order, defaults filled in
    results: tuple[Result, ...]  # one for each return; an in-place operator's result is its argument, renamed
    place: Place
    grad: bool = True  # False under `torch.no_grad()`
    assigns: bool = False  # whether it is `x[…] = value`: Python expands the value, which may have leading sizes of 1
    autocast: tuple[str, ...] = ()  # the device and the dtype of a region of autocast that it is called in
    selects: str = ""  # of `x[…]` with tensors: the name of a bool that is true at run time if it is a view in eager

    @property
    def is_python(self) -> bool:
        """Whether it reads or computes numbers, and is not an operator."""
        return self.op.startswith(f"{PYTHON}::")


class Output(Struct, frozen=True):
    """An output of a function."""

    value: Value
    type: str  # `Tensor`, `Tensor[]`, `int`, …; `Tensor?` if it is None


class Cond(Struct, frozen=True, tag="cond"):
    """The callee of a branch: `then` if the first argument is true, else `otherwise`, with the other arguments."""

    then: Function
    otherwise: Function


class Custom(Struct, frozen=True, tag="custom"):
    """An operator that the set does not have, which its library registers: the dispatcher has its schema."""

    name: str  # `mylib::foo`
    overload: str  # "" for the default one
    types: tuple[str, ...]  # of the arguments, in the schema language


Callee = Cond | Custom


class Function(Struct, frozen=True):
    """A straight-line function."""

    name: str
    place: Place
    inputs: tuple[Input, ...]
    calls: tuple[Call, ...]
    outputs: tuple[Output, ...]  # empty if the function returns nothing
    single: bool  # whether it returns a value and not a tuple
    may_alias: tuple[tuple[str, ...], ...] = ()  # groups of inputs that may share their storage
    doc: str = ""  # the first line of its docstring
    callees: dict[str, Callee] = {}  # what its calls call, other than operators of the set, by identity
    enables_grad: bool = False  # whether it, or a branch, has a region under `torch.enable_grad()`
