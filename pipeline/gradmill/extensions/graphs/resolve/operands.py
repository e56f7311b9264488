"""The operands of a graph's source while it is read: values of known types, tuples of them, or an error's result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gradmill.extensions.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from gradmill.extensions.graphs.scalars import Number
from gradmill.problems.problem import SpecError

_INT64 = 2**63


class TypedValue(NamedTuple):
    """A value and its type in the schema language."""

    value: Value
    type: str  # `Tensor`, `Tensor?`, `Tensor[]`, `int`, `int[]`, `float`, `bool`, `str`, `None`, `ScalarType` …


class Several(NamedTuple):
    """A Python tuple or list; or an operator's results, with their names."""

    items: tuple[Operand, ...]
    names: tuple[str, ...] = ()
    is_list: bool = False


class Wrong(NamedTuple):
    """The value of an erroneous expression. Uses of it are not reported again."""


WRONG = Wrong()

Operand = TypedValue | Several | Wrong

NONE = TypedValue(Nothing(), "None")


def of_number(value: Number) -> TypedValue:
    """The operand for a constant number. Raises a SpecError for a whole one of more than 64 bits."""
    if isinstance(value, bool):
        return TypedValue(Bool(value), "bool")
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise SpecError("the number is too large: it has more than 64 bits")
    return TypedValue(Int(value), "int") if isinstance(value, int) else TypedValue(Float(value), "float")


def of_dtype(name: str) -> TypedValue:
    """The operand for a dtype."""
    return TypedValue(Constant("ScalarType", name), "ScalarType")


def number_in(operand: Operand) -> Number | None:
    """The value of a constant number, None for any other operand."""
    if isinstance(operand, TypedValue) and isinstance(operand.value, (Int, Float, Bool)):
        return operand.value.value
    return None


def text_in(operand: Operand) -> str | None:
    """The value of a constant string, None for any other operand."""
    return operand.value.value if isinstance(operand, TypedValue) and isinstance(operand.value, Str) else None


def is_tensor(operand: Operand) -> bool:
    """Whether it is a tensor; an optional tensor is not."""
    return isinstance(operand, TypedValue) and operand.type == "Tensor"


def is_number(operand: Operand) -> bool:
    """Whether it is an int, float or bool, constant or not."""
    return isinstance(operand, TypedValue) and operand.type in ("int", "float", "bool")


def is_scalar(operand: Operand) -> bool:
    """Whether it can be passed as a Scalar: a number, or an input of type Scalar."""
    return is_number(operand) or (isinstance(operand, TypedValue) and operand.type == "Scalar")


def any_wrong(operands: Iterable[Operand]) -> bool:
    """Whether one of them is the value of an erroneous expression, or contains one."""
    return any(
        isinstance(operand, Wrong) or (isinstance(operand, Several) and any_wrong(operand.items))
        for operand in operands
    )


def items_of(operand: Operand, count: int) -> list[Operand] | None:
    """The first `count` items, or fewer if a tuple has fewer; None if the operand is not a tuple or list."""
    if isinstance(operand, Several):
        return list(operand.items[:count])
    if isinstance(operand, TypedValue) and operand.type.endswith("[]"):
        return [item_of(operand, index) for index in range(count)]
    return None


def item_of(operand: TypedValue, index: int) -> TypedValue:
    """An item of a list of unknown length."""
    inner = operand.type.removesuffix("[]")
    if isinstance(operand.value, Ref):
        return TypedValue(Item(operand.value.name, index), inner)
    assert isinstance(operand.value, Many)
    return TypedValue(operand.value.values[index], inner)


def described(operand: Operand) -> str:
    """The type of an operand, for a message."""
    if isinstance(operand, Several):
        inner = ", ".join(map(described, operand.items))
        return f"[{inner}]" if operand.is_list else f"({inner})"
    if isinstance(operand, Wrong):
        return "?"
    if isinstance(operand.value, Constant):
        return operand.value.name
    return _SHOWN.get(operand.type, operand.type)


_SHOWN = {"Scalar": "int | float", "Scalar?": "int | float | None"}


def index_in(operand: Operand) -> int | None:
    """The value of a constant integer, None for any other operand."""
    return operand.value.value if isinstance(operand, TypedValue) and isinstance(operand.value, Int) else None
