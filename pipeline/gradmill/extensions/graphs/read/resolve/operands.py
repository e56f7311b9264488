"""The operands of a graph's source while it is read: values of known types, and tuples of them."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping
from typing import NamedTuple

from gradmill.extensions.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from gradmill.extensions.graphs.scalars import Number
from gradmill.model.schema import Argument
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


Operand = TypedValue | Several
Scope = dict[str, Operand | None]  # values by name; None if an error leaves it without one


class Spoiled(Exception):
    """An expression uses a value that an error left out. It is not reported again."""


def named(name: str, scope: Mapping[str, Operand | None]) -> Operand:
    """The value of a name in a scope. Raises Spoiled if an error left it without one."""
    value = scope[name]
    if value is None:
        raise Spoiled
    return value


NONE = TypedValue(Nothing(), "None")


def of_number(value: Number) -> TypedValue:
    """The operand for a constant number. Raises a SpecError for a whole one of more than 64 bits."""
    if isinstance(value, bool):
        return TypedValue(Bool(value), "bool")
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise SpecError("the number is too large: it has more than 64 bits")
    return TypedValue(Int(value), "int") if isinstance(value, int) else TypedValue(Float(value), "float")


def of_literal(value: object) -> Operand:
    """The operand for a number, a string, None, or a list of these. Raises a ValueError for another value."""
    if value is None:
        return NONE
    if isinstance(value, str):
        return TypedValue(Str(value), "str")
    if isinstance(value, (bool, int, float)):
        return of_number(value)
    if isinstance(value, list):
        return Several(tuple(map(of_literal, value)), is_list=True)
    raise ValueError(value)


def of_constant(constant: Constant) -> TypedValue:
    """The operand for a constant of torch."""
    return TypedValue(constant, constant.kind)


def of_dtype(name: str) -> TypedValue:
    """The operand for a dtype."""
    return of_constant(Constant("ScalarType", name))


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


def items_of(operand: Operand, count: int) -> list[Operand] | None:
    """The first `count` items, or fewer if a tuple has fewer; None if the operand is not a tuple or list."""
    if isinstance(operand, Several):
        return list(operand.items[:count])
    if isinstance(operand, TypedValue) and operand.type.endswith("[]"):
        return [item_of(operand, index) for index in range(count)]
    return None


def item_of(operand: TypedValue, index: int) -> TypedValue:
    """An item of a list of unknown length."""
    assert isinstance(operand.value, Ref)
    return TypedValue(Item(operand.value.name, index), operand.type.removesuffix("[]"))


def described(operand: Operand) -> str:
    """The type of an operand, for a message."""
    if isinstance(operand, Several):
        inner = ", ".join(map(described, operand.items))
        return f"[{inner}]" if operand.is_list else f"({inner})"
    if isinstance(operand.value, Constant):
        return operand.value.name
    return _SHOWN.get(operand.type, operand.type)


_SHOWN = {"Scalar": "int | float", "Scalar?": "int | float | None"}


def index_in(operand: Operand) -> int | None:
    """The value of a constant integer, None for any other operand."""
    return operand.value.value if isinstance(operand, TypedValue) and isinstance(operand.value, Int) else None


# ---- conversions to schema types


_LIST = re.compile(r"(.+)\[(\d*)\]")
_INTS = ("int", "SymInt")
_REDUCTIONS = {"None": 0, "Mean": 1, "Sum": 2}  # at::Reduction
_NUMBERS = ("int", "float", "bool", "Scalar")

# Aliases of dtypes, in Python and in schemas.
DTYPES = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

# The types of values that each schema type accepts.
_TAKES: dict[str, tuple[str, ...]] = {
    "number": _NUMBERS,  # see `scalars.py`
    "whole": ("int", "bool", "Scalar"),
    "Tensor": ("Tensor", "gap"),  # a gap is among the tensors of a subscript, and nowhere else
    "Scalar": _NUMBERS,
    "int": ("int",),
    "SymInt": ("int",),
    "float": ("float", "int", "Scalar"),
    "bool": ("bool",),
    "SymBool": ("bool",),
    "str": ("str",),
    "ScalarType": ("ScalarType",),
    "Layout": ("Layout",),
    "Device": ("Device",),
    "MemoryFormat": ("MemoryFormat",),
}


def converted(operand: Operand, type_: str, *, numbers: bool = False) -> Value | None:
    """The value converted to the schema type `type_`; None if that type does not accept it.

    `numbers`: whether tensors accept numbers.
    """
    if type_.endswith("?"):
        if isinstance(operand, TypedValue) and operand.type in ("None", *_optionals(type_[:-1])):
            return operand.value
        return converted(operand, type_[:-1], numbers=numbers)
    listed = _LIST.fullmatch(type_)
    if listed is not None:
        return _list(operand, listed[1], int(listed[2] or 0))
    if not isinstance(operand, TypedValue):
        return None
    if type_ == "Device" and isinstance(operand.value, Str):
        return Constant("Device", operand.value.value)
    if numbers and type_ == "Tensor" and operand.type in _NUMBERS:
        return operand.value
    if operand.type not in _TAKES.get(type_, ()):
        return None
    if type_ == "float" and isinstance(operand.value, Int):
        return Float(float(operand.value.value))
    return operand.value


def _optionals(inner: str) -> list[str]:
    """The optional types that an optional of the type `inner` accepts."""
    listed = _LIST.fullmatch(inner)
    if listed is not None:
        return [f"{'int' if listed[1] in _INTS else listed[1]}[]?"]
    return [f"{type_}?" for type_ in _TAKES.get(inner, ())]


def _list(operand: Operand, inner: str, size: int) -> Value | None:
    if isinstance(operand, Several):
        items = [converted(item, inner) for item in operand.items]
        values = [value for value in items if value is not None]
        return Many(tuple(values)) if len(values) == len(items) else None
    plain = "int" if inner in _INTS else inner
    if isinstance(operand.value, (Ref, Item, Many)) and operand.type == f"{plain}[]":
        return operand.value
    if size and inner in (*_INTS, "float", "bool"):
        one = converted(operand, inner)
        return Many((one,) * size) if one is not None else None
    return None


def default_of(argument: Argument) -> Value | None:
    """The value of an omitted argument; None if the argument is required."""
    return None if argument.default is None else converted(_written(argument.default, argument.type), argument.type)


def _written(text: str, type_: str) -> Operand:
    """The operand for a default, as a schema writes it."""
    if text == "None" and type_ not in _INTS:
        return NONE
    base = type_.rstrip("?")
    if text in _REDUCTIONS and base in _INTS:
        return of_number(_REDUCTIONS[text])
    if base in ("ScalarType", "Layout", "MemoryFormat", "Device"):
        return of_constant(Constant(base, DTYPES.get(text, text)))  # type: ignore[arg-type]
    try:
        return of_literal(literal_eval(text))
    except (ValueError, SyntaxError):
        return TypedValue(Str(text), "str")
