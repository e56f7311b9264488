"""The facts of an operator that a graph depends on: its schema, its functional variant, its derivatives."""

from __future__ import annotations

from msgspec import Struct

from gradmill.extensions.graphs.memory import shares
from gradmill.extensions.graphs.traits import name_of
from gradmill.model.autograd import Reverse
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, is_list, is_tensor_like
from gradmill.rules.native.dispatch import IMPLICIT


class Operator(Struct, frozen=True):
    """An operator overload that graphs call."""

    identity: str  # among the set's functions
    function: NativeFunction
    functional: NativeFunction | None = None  # the functional variant of an in-place operator, if it has one
    reverse: Reverse | None = None  # the derivatives, of the variant that they are written for
    outputs: tuple[str, ...] = ()  # the results with a history, by name
    refused: tuple[str, ...] = ()  # tensors that may not need a gradient, since it has no derivative for them
    hidden: tuple[
        str, ...
    ] = ()  # helpers of its formulas that a source cannot call; if any, the library's Node is used
    tracked: bool = True  # whether autograd tracks it

    @property
    def name(self) -> str:
        """Its identity in tables: `aten::mul.Tensor`."""
        return name_of(self.function)

    @property
    def schema(self) -> Schema:
        """The schema of the operator as written."""
        return self.function.func

    @property
    def called(self) -> NativeFunction:
        """The function that a graph calls: the functional variant if there is one, else the operator itself."""
        return self.functional or self.function

    @property
    def composite(self) -> bool:
        """Whether it is CompositeImplicit: made of other operators, without its own derivatives."""
        return self.reverse is None and IMPLICIT in self.function.dispatch

    @property
    def inplace_view(self) -> bool:
        """Whether it mutates the metadata of its argument, and not its data: `t_`."""
        return "inplace_view" in self.function.tags


def written_arguments(schema: Schema) -> list[str]:
    """The arguments that an operator writes to."""
    return [a.name for a in schema.arguments if a.is_write]


def viewed_argument(function: NativeFunction) -> str | None:
    """The tensor argument that the result may be a view of; None if there is none, or if it is a list."""
    row = shares(function)
    if row is None or (row.whole and not row.annotated) or row.untracked:
        return None
    return None if any(a.name == row.argument and is_list(a.type) for a in function.func.arguments) else row.argument


def tensor_arguments(schema: Schema) -> list[str]:
    """The arguments that are tensors, or lists of tensors, or optional tensors."""
    return [a.name for a in schema.arguments if is_tensor_like(a.type)]
