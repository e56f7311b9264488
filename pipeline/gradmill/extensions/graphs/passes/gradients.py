"""The backward of a graph as data: a block for each call with a gradient, and the values that the forward saves."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gradmill.extensions.graphs.model import Value
from gradmill.extensions.graphs.passes.functionalize.program import Apply, Choose, Scatter
from gradmill.extensions.graphs.passes.needs import AnyOf
from gradmill.model.autograd import SavedAttribute

Holding = Literal["plain", "input", "output", "copy", "list", "apart", "part"]
MetadataKind = Literal["like", "layout", "length", "likes", "record"]
Style = Literal["own", "library", "composite", "recorded", "view", "cast", "missing"]


class GradientTarget(Struct, frozen=True):
    """Where a gradient goes: the value, and the inputs that the value depends on."""

    value: Value
    needs: AnyOf
    like: str  # the name of its saved sizes and dtype


class Argument(Struct, frozen=True):
    """An input of a call with a gradient: one target, or one for each item of a list."""

    name: str
    targets: tuple[GradientTarget, ...]
    listed: bool = False
    whole: bool = False  # whether it is a list with a length known at run time only
    needs: AnyOf = ()


class CallBlock(Struct, frozen=True, tag="call"):
    """The gradients of an operator's inputs."""

    step: Apply
    style: Style
    node: str
    grads: tuple[tuple[Value, bool], ...]  # the results with a history, and whether each is a list
    arguments: tuple[Argument, ...]
    attributes: tuple[SavedAttribute, ...] = ()
    record: str = ""  # the name that a recorded call is saved under
    overwritten: tuple[Value, ...] = ()  # its arguments in the memory of inputs that the graph writes to
    viewed: dict[str, tuple[Value, ...]] = {}  # its arguments that may be views of inputs or outputs: of which
    hidden: tuple[str, ...] = ()  # the reason to use the library's Node: helpers that libtorch does not export
    part: str = ""  # C++ over {attributes} and `base`: the view of a gradient that is already there, to add this one to


class ScatterBlock(Struct, frozen=True, tag="scatter"):
    """The gradients of the base and of the scattered value."""

    step: Scatter
    base: GradientTarget
    value: GradientTarget
    layout: str


class ChooseBlock(Struct, frozen=True, tag="choose"):
    """The gradients of the two values of a Choose step; one of them is chosen at run time."""

    step: Choose
    then: GradientTarget
    otherwise: GradientTarget


Block = CallBlock | ScatterBlock | ChooseBlock


class Tensor(Struct, frozen=True):
    """A saved tensor. `how`: `plain` as it is, `list` with the versions of its tensors, `input` and `output` as a
    SavedVariable, `copy` as a copy, `apart` as a copy if it aliases one of `shares`, else as it is, `part` as a copy if
    it is a small part of a tensor that nothing else keeps."""

    value: Value
    name: str
    how: Holding
    needs: AnyOf
    shares: tuple[Value, ...] = ()


class Remade(Struct, frozen=True):
    """A value that the backward computes again, before its first use there: a view, a constant, or what a memory budget
    chose. Of several results it is the first."""

    step: Apply
    needs: AnyOf = ()  # the inputs whose gradients use it, if that is chosen by a budget

    @property
    def name(self) -> str:
        """The name of the value."""
        return self.step.results[0].name


class Attribute(Struct, frozen=True):
    """An attribute of an operator's arguments that a formula uses; the forward computes it."""

    name: str
    attribute: SavedAttribute
    step: int
    needs: AnyOf


class Metadata(Struct, frozen=True):
    """Metadata of a value: its sizes and dtype, its layout, the length of a list; or the record of a call."""

    name: str
    kind: MetadataKind
    value: Value
    needs: AnyOf


class Backward(Struct, frozen=True):
    """The backward of a graph."""

    blocks: tuple[Block, ...]
    tensors: tuple[Tensor, ...]
    remade: tuple[Remade, ...]
    attributes: tuple[Attribute, ...]
    metadata: tuple[Metadata, ...]
    numbers: dict[str, str]  # the types of the numbers that it uses, by name

    @property
    def kept(self) -> list[Tensor]:
        """The tensors that the Node keeps as SavedVariables, in order."""
        return [each for each in self.tensors if each.how in ("input", "output")]
