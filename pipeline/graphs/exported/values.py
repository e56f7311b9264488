"""Converts arguments of a `.pt2` file's calls to operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.graphs.exported.format import (
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    Argument,
    Device,
    Number,
    SymArgument,
    TensorMeta,
)
from pipeline.graphs.model import ANY, Constant, Str, TensorFacts
from pipeline.graphs.resolve.operands import NONE, Known, Operand, Several, of_dtype, of_number
from pipeline.problems.problem import SpecError

_INT64 = 2**63

Scope = Mapping[str, Operand]


def operand_of(argument: Argument, scope: Scope) -> Operand:
    """The operand for an argument. Raises a SpecError for a kind that a graph does not support."""
    if argument.as_tensor is not None:
        return tensor(argument.as_tensor.name, scope)
    if argument.as_optional_tensor is not None:
        inner = argument.as_optional_tensor.as_tensor
        return tensor(inner.name, scope) if inner is not None else NONE
    listed = _list_of(argument, scope)
    if listed is not None:
        return Several(tuple(listed), is_list=True)
    plain = _plain(argument)
    if plain is not None:
        return plain
    for symbolic in (argument.as_sym_int, argument.as_sym_float, argument.as_sym_bool):
        if symbolic is not None:
            return _number(symbolic, scope)
    raise SpecError("an argument has a kind that a graph does not support")


def tensor(name: str, scope: Scope) -> Operand:
    """The tensor or number of that name. Raises a SpecError if no earlier node defines it."""
    if name not in scope:
        raise SpecError(f"'{name}' is used before it is defined", "the file is damaged: export the model again")
    return scope[name]


def _list_of(argument: Argument, scope: Scope) -> Sequence[Operand] | None:
    if argument.as_tensors is not None:
        return [tensor(each.name, scope) for each in argument.as_tensors]
    if argument.as_optional_tensors is not None:
        tensors = (each.as_tensor for each in argument.as_optional_tensors)
        return [tensor(each.name, scope) if each is not None else NONE for each in tensors]
    for numbers in (argument.as_ints, argument.as_floats, argument.as_bools):
        if numbers is not None:
            return [_of(number) for number in numbers]
    for symbolic in (argument.as_sym_ints, argument.as_sym_floats, argument.as_sym_bools):
        if symbolic is not None:
            return [_number(each, scope) for each in symbolic]
    return None


def _plain(argument: Argument) -> Known | None:
    if argument.as_none:
        return NONE
    if argument.as_bool is not None:
        return of_number(argument.as_bool)
    if argument.as_int is not None:
        return _of(argument.as_int)
    if argument.as_float is not None:
        return _of(argument.as_float)
    if argument.as_string is not None:
        return Known(Str(argument.as_string), "str")
    if argument.as_scalar_type is not None:
        return of_dtype(dtype_of(argument.as_scalar_type))
    if argument.as_memory_format is not None:
        return Known(Constant("MemoryFormat", _named(MEMORY_FORMATS, argument.as_memory_format)), "MemoryFormat")
    if argument.as_layout is not None:
        return Known(Constant("Layout", _named(LAYOUTS, argument.as_layout)), "Layout")
    if argument.as_device is not None:
        return Known(Constant("Device", device_of(argument.as_device)), "Device")
    return None


def _of(number: Number | bool) -> Known:
    """The operand for a number; infinities and nan are text in the file."""
    try:
        value = float(number) if isinstance(number, str) else number
    except ValueError:
        raise SpecError(f"'{number}' is not a number", "the file is damaged: export the model again") from None
    if not isinstance(value, float) and not -_INT64 <= value < _INT64:
        raise SpecError(f"the number {value} has more than 64 bits")
    return of_number(value)


def _named(table: Mapping[int, str], number: int) -> str:
    if number not in table:
        raise SpecError(f"the layout or memory format of number {number} is not supported in a graph")
    return table[number]


def dtype_of(number: int) -> str:
    """The name of a dtype, by its number in the file. Raises a SpecError for an unsupported dtype."""
    if number not in DTYPES:
        raise SpecError(f"the dtype of number {number} is not supported in a graph")
    return DTYPES[number]


def device_of(device: Device) -> str:
    """The name of a device: `cpu`, `cuda:0`."""
    return device.type if device.index is None else f"{device.type}:{device.index}"


def facts_of(meta: TensorMeta) -> TensorFacts:
    """The metadata of an input. Raises a SpecError for an unsupported dtype."""
    sizes, strides = (
        [ANY if each.as_int is None else each.as_int for each in numbers] for numbers in (meta.sizes, meta.strides)
    )
    return TensorFacts(dtype_of(meta.dtype), tuple(sizes), tuple(strides), device_of(meta.device), meta.requires_grad)


def _number(symbolic: SymArgument, scope: Scope) -> Operand:
    """The operand for a number that may be symbolic. Raises a SpecError if no earlier node defines it."""
    if symbolic.as_name is not None:
        return tensor(symbolic.as_name, scope)
    number: Number | bool | None = symbolic.as_int
    number = symbolic.as_float if number is None else number
    number = symbolic.as_bool if number is None else number
    if number is None:
        raise SpecError("a number has no value", "the file is damaged: export the model again")
    return _of(number)
