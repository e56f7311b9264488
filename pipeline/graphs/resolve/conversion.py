"""Whether a value can be given for an argument of a schema, and as what: the conversions of PyTorch's argument parser.

Rules: torch/csrc/utils/python_arg_parser.cpp. A whole number does for a float, one number for a list of fixed length,
a number for a tensor where the operator is one of those that take numbers.
"""

from __future__ import annotations

import re
from ast import literal_eval

from pipeline.grammar.types import element
from pipeline.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from pipeline.graphs.resolve.things import Known, Several, Thing
from pipeline.model.schema import Argument

_LIST = re.compile(r"(.+)\[(\d*)\]")
_INTS = ("int", "SymInt")
_REDUCTIONS = {"None": 0, "Mean": 1, "Sum": 2}  # at::Reduction
_NUMBERS = ("int", "float", "bool", "Scalar")

# Other names of dtypes, in Python and in schemas.
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

# What else is accepted for a type: of values, by their own type.
_TAKES: dict[str, tuple[str, ...]] = {
    "Tensor": ("Tensor",),
    "Scalar": _NUMBERS,
    "int": ("int",),
    "SymInt": ("int",),
    "float": ("float", "int"),
    "bool": ("bool",),
    "SymBool": ("bool",),
    "str": ("str",),
    "ScalarType": ("ScalarType",),
    "Layout": ("Layout",),
    "Device": ("Device",),
    "MemoryFormat": ("MemoryFormat",),
}


def converted(thing: Thing, type_: str, *, numbers: bool = False) -> Value | None:
    """What an argument of schema type `type_` gets; None where the value does not do. `numbers`: for tensors too."""
    if type_.endswith("?"):
        return _optional(thing, type_[:-1], numbers=numbers)
    listed = _LIST.fullmatch(type_)
    if listed is not None:
        return _list(thing, listed[1], int(listed[2] or 0))
    if not isinstance(thing, Known):
        return None
    if type_ == "Device" and isinstance(thing.value, Str):
        return Constant("Device", thing.value.value)
    if numbers and type_ == "Tensor" and thing.type in _NUMBERS:
        return thing.value
    if thing.type not in _TAKES.get(type_, ()):
        return None
    if type_ == "float" and isinstance(thing.value, Int):
        return Float(float(thing.value.value))
    return thing.value


def _optional(thing: Thing, inner: str, *, numbers: bool) -> Value | None:
    if isinstance(thing, Known) and (thing.type == "None" or thing.type in _optionals(inner)):
        return thing.value
    return converted(thing, inner, numbers=numbers)


def _optionals(inner: str) -> list[str]:
    """The types of what may be None, and does for a type where it is not."""
    listed = _LIST.fullmatch(inner)
    if listed is not None:
        return [f"{'int' if listed[1] in _INTS else listed[1]}[]?"]
    return [f"{type_}?" for type_ in _TAKES.get(inner, ())]


def _list(thing: Thing, inner: str, size: int) -> Value | None:
    if isinstance(thing, Several):
        found = [converted(item, inner) for item in thing.items]
        values = [value for value in found if value is not None]
        return Many(tuple(values)) if len(values) == len(found) else None
    if not isinstance(thing, Known):
        return None
    plain = "int" if inner in _INTS else inner
    if isinstance(thing.value, (Ref, Item, Many)) and thing.type == f"{plain}[]":
        return thing.value
    if size and inner in (*_INTS, "float", "bool"):
        one = converted(thing, inner)
        return Many((one,) * size) if one is not None else None
    return None


def default_of(argument: Argument) -> Value | None:
    """The value of an argument that is not given; None where it has to be."""
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
        found = literal_eval(text)
    except (ValueError, SyntaxError):
        return Str(text)
    if isinstance(found, bool):
        return Bool(found)
    if isinstance(found, int):
        return Float(float(found)) if type_ == "float" else Int(found)
    return Float(found) if isinstance(found, float) else Str(str(found))
