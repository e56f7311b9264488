"""Arguments of a `.pt2` file's calls, as values of a known type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.graphs.exported.format import DTYPES, LAYOUTS, MEMORY_FORMATS, Argument, Device, Number, SymArgument
from pipeline.graphs.model import Constant, Str
from pipeline.graphs.resolve.things import NONE, Known, Several, Thing, of_number
from pipeline.problems.problem import SpecError

SYMBOLIC = "export the model without dynamic_shapes, once for each size that is needed"

_INT64 = 2**63

Scope = Mapping[str, Thing]


def thing_of(argument: Argument, scope: Scope) -> Thing:
    """What an argument stands for; a SpecError for what no graph can have."""
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
            return _number(symbolic)
    raise SpecError("an argument is of a kind that no graph can have")


def tensor(name: str, scope: Scope) -> Thing:
    """A tensor by its name."""
    if name not in scope:
        raise SpecError(f"'{name}' is used before it is there", "the file is damaged: export the model again")
    return scope[name]


def _list_of(argument: Argument, scope: Scope) -> Sequence[Thing] | None:
    if argument.as_tensors is not None:
        return [tensor(each.name, scope) for each in argument.as_tensors]
    if argument.as_optional_tensors is not None:
        found = (each.as_tensor for each in argument.as_optional_tensors)
        return [tensor(each.name, scope) if each is not None else NONE for each in found]
    for numbers in (argument.as_ints, argument.as_floats, argument.as_bools):
        if numbers is not None:
            return [_of(number) for number in numbers]
    for symbolic in (argument.as_sym_ints, argument.as_sym_floats, argument.as_sym_bools):
        if symbolic is not None:
            return [_number(each) for each in symbolic]
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
        return Known(Constant("ScalarType", dtype_of(argument.as_scalar_type)), "ScalarType")
    if argument.as_memory_format is not None:
        return Known(Constant("MemoryFormat", _named(MEMORY_FORMATS, argument.as_memory_format)), "MemoryFormat")
    if argument.as_layout is not None:
        return Known(Constant("Layout", _named(LAYOUTS, argument.as_layout)), "Layout")
    if argument.as_device is not None:
        return Known(Constant("Device", device_of(argument.as_device)), "Device")
    return None


def _of(number: Number | bool) -> Known:
    """A number; infinities and nan are text."""
    try:
        found = float(number) if isinstance(number, str) else number
    except ValueError:
        raise SpecError(f"'{number}' is no number", "the file is damaged: export the model again") from None
    if not isinstance(found, float) and not -_INT64 <= found < _INT64:
        raise SpecError(f"the number {found} has more than 64 bits")
    return of_number(found)


def _named(table: Mapping[int, str], number: int) -> str:
    if number not in table:
        raise SpecError(f"a layout or a memory format, {number}, is none that a graph can have")
    return table[number]


def dtype_of(number: int) -> str:
    """A dtype by its number in the file."""
    if number not in DTYPES:
        raise SpecError(f"a dtype, number {number}, is none that a graph can have")
    return DTYPES[number]


def device_of(device: Device) -> str:
    """`cpu`, `cuda:0`."""
    return device.type if device.index is None else f"{device.type}:{device.index}"


def _number(symbolic: SymArgument) -> Known:
    """A number that could be symbolic and is not."""
    found: Number | bool | None = symbolic.as_int
    found = symbolic.as_float if found is None else found
    found = symbolic.as_bool if found is None else found
    if found is None:
        raise SpecError(f"the size '{symbolic.as_name}' is symbolic", SYMBOLIC)
    return _of(found)
