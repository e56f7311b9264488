"""The backward of a graph as data: a block for each call with a gradient, and what the forward keeps for them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pipeline.graphs.functional import program as functional
from pipeline.graphs.functional.program import Apply, Choose, Scatter
from pipeline.graphs.model import Value
from pipeline.model.autograd import SavedAttribute

Style = Literal["own", "library", "composite", "recorded", "view", "cast", "missing"]


class Target(Struct, frozen=True):
    """Where a gradient goes: the value that it is of, and which inputs that leads to."""

    value: Value
    needs: tuple[int, ...]
    like: str  # what is held of its looks


class Argument(Struct, frozen=True):
    """An input of a call that has a gradient: one target, or those of a list's items."""

    name: str
    targets: tuple[Target, ...]
    listed: bool = False
    whole: bool = False  # whether it is a list whose length is known at run time only
    needs: tuple[int, ...] = ()


class CallBlock(Struct, frozen=True, tag="call"):
    """The gradients of an operator's inputs."""

    step: Apply
    style: Style
    node: str
    grads: tuple[tuple[Value, bool], ...]  # of the results that carry a history, and whether each is a list
    arguments: tuple[Argument, ...]
    attributes: tuple[SavedAttribute, ...] = ()
    record: str = ""  # what a recorded call is held as
    hidden: tuple[str, ...] = ()  # why the gradients are the library's Node's: the helpers that nobody else can call


class ScatterBlock(Struct, frozen=True, tag="scatter"):
    """The gradients of what was scattered."""

    step: Scatter
    base: Target
    value: Target
    layout: str


class ChooseBlock(Struct, frozen=True, tag="choose"):
    """The gradient of one of two values."""

    step: Choose
    then: Target
    otherwise: Target


Block = CallBlock | ScatterBlock | ChooseBlock


class Tensor(Struct, frozen=True):
    """A tensor that is held: by itself, as an input or output that the caller may write to, or as a copy; `apart` is
    by itself, or as a copy where it is in the memory of some others."""

    value: Value
    name: str
    how: Literal["plain", "input", "output", "copy", "list", "apart"]
    needs: tuple[int, ...]
    shares: tuple[Value, ...] = ()


class Remade(Struct, frozen=True):
    """A view, or a constant, that the backward makes again."""

    step: Apply | functional.Number

    @property
    def name(self) -> str:
        return self.step.results[0].name if isinstance(self.step, Apply) else self.step.result.name


class Attribute(Struct, frozen=True):
    """Something of an operator's arguments that a formula asks for, computed in the forward."""

    name: str
    attribute: SavedAttribute
    step: int
    needs: tuple[int, ...]


class Mark(Struct, frozen=True):
    """How a value looks: its sizes and dtype, its layout, the length of a list."""

    name: str
    kind: Literal["like", "layout", "length", "likes", "record"]
    value: Value
    needs: tuple[int, ...]


class Number(Struct, frozen=True):
    """A number that the backward needs."""

    name: str
    type: str


class Backward(Struct, frozen=True):
    """The backward of a graph."""

    blocks: tuple[Block, ...]
    tensors: tuple[Tensor, ...]
    remade: tuple[Remade, ...]
    attributes: tuple[Attribute, ...]
    marks: tuple[Mark, ...]
    numbers: tuple[Number, ...]
