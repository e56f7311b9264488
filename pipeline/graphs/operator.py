"""What a graph needs to know of an operator: its schema, its functional variant, its derivatives."""

from __future__ import annotations

from msgspec import Struct

from pipeline.graphs.memory import shares
from pipeline.model.autograd import Reverse
from pipeline.model.native import NativeFunction
from pipeline.model.schema import Schema, is_list, is_tensor_like
from pipeline.rules.native.dispatch import IMPLICIT


class Operator(Struct, frozen=True):
    """An operator overload that graphs call."""

    identity: str  # among the set's functions
    function: NativeFunction
    functional: NativeFunction | None = None  # the functional variant of an in-place operator, where there is one
    reverse: Reverse | None = None  # its derivatives, of the variant that they are written for
    outputs: tuple[str, ...] = ()  # those that carry a history, by name
    refused: tuple[str, ...] = ()  # tensors that may not need a gradient, as it has no derivative for them
    hidden: tuple[str, ...] = ()  # helpers that its formulas call and a source cannot: its Node is then the library's
    tracked: bool = True  # whether autograd looks at it at all

    @property
    def schema(self) -> Schema:
        return self.function.func

    @property
    def called(self) -> NativeFunction:
        """What a graph calls in its place: the functional variant, where there is one."""
        return self.functional or self.function

    @property
    def composite(self) -> bool:
        """Whether it is made of other operators, with no derivatives of its own."""
        return self.reverse is None and IMPLICIT in self.function.dispatch

    @property
    def inplace_view(self) -> bool:
        """Whether it changes what its argument looks like, and not what is in it: `t_`."""
        return "inplace_view" in self.function.tags


def written_arguments(schema: Schema) -> list[str]:
    """The arguments that an operator writes to."""
    return [a.name for a in schema.arguments if a.is_write]


def viewed_argument(schema: Schema) -> str | None:
    """The tensor that the result is a view of, whatever else it may be; None where it is of none."""
    row = shares(schema)
    if row is None or row.whole or any(a.name == row.argument and is_list(a.type) for a in schema.arguments):
        return None
    return row.argument


def tensor_arguments(schema: Schema) -> list[str]:
    """The arguments that are tensors, or lists or optionals of them."""
    return [a.name for a in schema.arguments if is_tensor_like(a.type)]
