"""How graphs look up an operator of a set; the facts of it that they depend on: its schema, its functional variant, its
derivatives, its memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from gradmill.extensions.graphs.model import Call, Callee, Cond, Function
from gradmill.extensions.graphs.traits import SHARES, Shares, name_of
from gradmill.model.autograd import Reverse
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import Argument, OperatorName, Return, Schema, is_list, is_tensor_like
from gradmill.rules.native.dispatch import IMPLICIT


class Op(Struct, frozen=True):
    """An operator overload."""

    identity: str  # among the set's functions
    function: NativeFunction

    @property
    def name(self) -> str:
        """Its identity in tables: `aten::mul_.Tensor`."""
        return name_of(self.function)

    @property
    def schema(self) -> Schema:
        """The schema as written."""
        return self.function.func


class Ops(Protocol):
    """The operators of a set."""

    def overloads(self, name: str) -> Sequence[Op]:
        """All overloads of `aten::mul_`, in the order of the file; empty if the set has no such operator."""

    def near(self, name: str) -> str:
        """A hint that names the operator with the nearest name, "" if none is near."""


class Operator(Op, frozen=True):
    """An operator overload that graphs call, with the facts of it that they depend on."""

    functional: NativeFunction | None = None  # the functional variant of an in-place operator, if it has one
    reverse: Reverse | None = None  # the derivatives, of the variant that they are written for
    outputs: tuple[str, ...] = ()  # the results with a history, by name
    refused: tuple[str, ...] = ()  # tensors that may not need a gradient, since it has no derivative for them
    hidden: tuple[str, ...] = ()  # helpers of its formulas that a source cannot call: the library's Node is used then
    tracked: bool = True  # whether autograd tracks it
    real: bool = False  # whether autograd refuses a complex result that needs a gradient

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


# ---- memory


def shares(function: NativeFunction) -> Shares | None:
    """The argument that the result of an operator may alias, other than one that it writes to; None for new memory."""
    if written_arguments(function.func):  # not `dropout_`, which always returns its argument
        return None
    row, marked = SHARES.get(name_of(function)), _marked(function.func)
    if marked is None:
        return row
    return replace(row or Shares(marked), annotated=True)


def _marked(schema: Schema) -> str | None:
    """The argument that the result is a view of, by the annotations; None without such an annotation."""
    letters = {r.annotation for r in schema.returns if r.annotation is not None and not r.is_write}
    for argument in schema.arguments:
        annotation = argument.annotation
        if annotation is not None and not argument.is_write and annotation.partition(" ")[0] in letters:
            return argument.name
    return None


# ---- what calls call other than operators of the set


COND = "higher_order::cond"


def branches(function: Function) -> Iterator[Function]:
    """The branches of a function, and those of its branches."""
    for callee in function.callees.values():
        if isinstance(callee, Cond):
            for branch in (callee.then, callee.otherwise):
                yield branch
                yield from branches(branch)


def callee_operator(call: Call, callee: Callee) -> Operator:
    """What a call calls, as an operator."""
    if isinstance(callee, Cond):
        types: tuple[str, ...] = ("bool", *(input_.type for input_ in callee.then.inputs))
    else:
        types = callee.types
    namespace, _, name = call.op.partition("::")
    base, _, overload = name.partition(".")
    arguments = (  # a plan only needs the types of tensors
        Argument(argument, type_ if is_tensor_like(type_) else "int") for argument, type_ in zip(call.arguments, types)
    )
    returns = tuple(Return(result.type) for result in call.results)
    schema = Schema(OperatorName(base, overload), tuple(arguments), returns=returns)
    return Operator(call.function, NativeFunction(schema, namespace, dispatch={IMPLICIT: Kernel("")}))
