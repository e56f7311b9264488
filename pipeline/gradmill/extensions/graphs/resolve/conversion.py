"""The conversions of values to schema types in PyTorch's argument parser.

Rules: torch/csrc/utils/python_arg_parser.cpp. A float accepts an integer, a list of fixed length accepts one number,
and a tensor accepts a number if the operator accepts numbers for tensors.
"""

from __future__ import annotations

import re
from ast import literal_eval

from gradmill.extensions.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from gradmill.extensions.graphs.resolve.operands import Operand, Several, TypedValue
from gradmill.grammar.types import element
from gradmill.model.schema import Argument

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
        return _optional(operand, type_[:-1], numbers=numbers)
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


def _optional(operand: Operand, inner: str, *, numbers: bool) -> Value | None:
    if isinstance(operand, TypedValue) and (operand.type == "None" or operand.type in _optionals(inner)):
        return operand.value
    return converted(operand, inner, numbers=numbers)


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
    if not isinstance(operand, TypedValue):
        return None
    plain = "int" if inner in _INTS else inner
    if isinstance(operand.value, (Ref, Item, Many)) and operand.type == f"{plain}[]":
        return operand.value
    if size and inner in (*_INTS, "float", "bool"):
        one = converted(operand, inner)
        return Many((one,) * size) if one is not None else None
    return None


def default_of(argument: Argument) -> Value | None:
    """The value of an omitted argument; None if the argument is required."""
    if argument.default is None:
        return None
    type_ = argument.type
    while argument.default != "None" and type_.endswith("?"):
        type_ = type_[:-1]
    return _default(argument.default, type_)


def _default(text: str, type_: str) -> Value:
    if text == "None" and (type_.endswith("?") or type_ not in _INTS):
        return Nothing()
    if text.startswith("[") or type_.endswith("]"):
        inner = element(type_) or type_
        if text.startswith("["):
            return Many(tuple(_default(part.strip(), inner) for part in text[1:-1].split(",") if part.strip()))
        size = int(type_[type_.rindex("[") + 1 : -1] or 1)
        return Many((_default(text, inner),) * size)
    if text in _REDUCTIONS and type_ in _INTS:
        return Int(_REDUCTIONS[text])
    if type_ in ("ScalarType", "Layout", "MemoryFormat", "Device"):
        return Constant(type_, DTYPES.get(text, text))  # type: ignore[arg-type]
    return _literal(text, type_)


def _literal(text: str, type_: str) -> Value:
    try:
        number = literal_eval(text)
    except (ValueError, SyntaxError):
        return Str(text)
    if isinstance(number, bool):
        return Bool(number)
    if isinstance(number, int):
        return Float(float(number)) if type_ == "float" else Int(number)
    return Float(number) if isinstance(number, float) else Str(str(number))
