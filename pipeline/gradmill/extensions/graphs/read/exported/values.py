"""Converts arguments of a `.pt2` file's calls to operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from gradmill.extensions.graphs.model import ANY, Constant, Item, Ref, Str, TensorFacts
from gradmill.extensions.graphs.read.exported.format import (
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    Argument,
    Device,
    Number,
    OptionalTensor,
    Size,
    SymArgument,
    TensorMeta,
)
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.read.resolve.operands import (
    NONE,
    Operand,
    Scope,
    Several,
    TypedValue,
    named,
    of_constant,
    of_dtype,
    of_number,
)
from gradmill.problems.problem import SpecError


def operand_of(argument: Argument, scope: Scope) -> Operand:
    """The operand for an argument. Raises a SpecError for a kind that a graph does not support."""
    for kind, read in _KINDS.items():
        value = getattr(argument, kind)
        if value is not None:
            return read(value, scope)
    raise SpecError("an argument has a kind that a graph does not support")


def tensor(name: str, scope: Scope) -> Operand:
    """The tensor or number of that name. Raises a SpecError if no earlier node defines it."""
    if name not in scope:
        raise SpecError(f"'{name}' is used before it is defined", "the file is damaged: export the model again")
    return named(name, scope)


def _optional(argument: OptionalTensor, scope: Scope) -> Operand:
    return tensor(argument.as_tensor.name, scope) if argument.as_tensor is not None else NONE


def _listed(items: Iterable[Operand]) -> Several:
    return Several(tuple(items), is_list=True)


def _of(number: Number | bool) -> TypedValue:
    """The operand for a number; infinities and nan are text in the file."""
    try:
        value = float(number) if isinstance(number, str) else number
    except ValueError:
        raise SpecError(f"'{number}' is not a number", "the file is damaged: export the model again") from None
    return of_number(value)


def _named(kind: Literal["Layout", "MemoryFormat"], number: int) -> TypedValue:
    table = LAYOUTS if kind == "Layout" else MEMORY_FORMATS
    if number not in table:
        raise SpecError(f"the layout or memory format of number {number} is not supported in a graph")
    return of_constant(Constant(kind, table[number]))


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
    sizes, strides = sizes_of(meta.sizes), sizes_of(meta.strides)
    return TensorFacts(dtype_of(meta.dtype), sizes, strides, device_of(meta.device), meta.requires_grad)


def sizes_of(sizes: Iterable[Size]) -> tuple[int, ...]:
    """Sizes or strides, ANY for one that is known at run time."""
    return tuple(ANY if each.as_int is None else each.as_int for each in sizes)


def _number(symbolic: SymArgument, scope: Scope) -> Operand:
    """The operand for a number that may be symbolic. Raises a SpecError if no earlier node defines it."""
    if symbolic.as_name is not None:
        return tensor(symbolic.as_name, scope)
    for number in (symbolic.as_int, symbolic.as_float, symbolic.as_bool):
        if number is not None:
            return _of(number)
    raise SpecError("a number has no value", "the file is damaged: export the model again")


# How the value of each kind of argument is read.
_KINDS: dict[str, Callable[[Any, Scope], Operand]] = {
    "as_tensor": lambda value, scope: tensor(value.name, scope),
    "as_tensors": lambda value, scope: _listed(tensor(each.name, scope) for each in value),
    "as_optional_tensor": _optional,
    "as_optional_tensors": lambda value, scope: _listed(_optional(each, scope) for each in value),
    **dict.fromkeys(("as_int", "as_float", "as_bool"), lambda value, scope: _of(value)),
    **dict.fromkeys(("as_ints", "as_floats", "as_bools"), lambda value, scope: _listed(map(_of, value))),
    **dict.fromkeys(("as_sym_int", "as_sym_float", "as_sym_bool"), _number),
    **dict.fromkeys(
        ("as_sym_ints", "as_sym_floats", "as_sym_bools"),
        lambda value, scope: _listed(_number(each, scope) for each in value),
    ),
    "as_none": lambda value, scope: NONE,
    "as_string": lambda value, scope: TypedValue(Str(value), "str"),
    "as_scalar_type": lambda value, scope: of_dtype(dtype_of(value)),
    "as_memory_format": lambda value, scope: _named("MemoryFormat", value),
    "as_layout": lambda value, scope: _named("Layout", value),
    "as_device": lambda value, scope: of_constant(Constant("Device", device_of(value))),
}


# ---- the names of arguments and results


def name_of(argument: Argument) -> str | None:
    """The name of a tensor; None for anything else."""
    return argument.as_tensor.name if argument.as_tensor is not None else None


def symbol_of(argument: Argument) -> str | None:
    """The name of a number that is known at run time; None for anything else."""
    for symbolic in (argument.as_sym_int, argument.as_sym_float, argument.as_sym_bool):
        if symbolic is not None:
            return symbolic.as_name
    return None


def names_of(arguments: Sequence[Argument]) -> list[str]:
    """The names of all tensors among arguments, and in lists of these."""
    tensors = [name for argument in arguments if (name := name_of(argument)) is not None]
    tensors += [each.name for argument in arguments for each in argument.as_tensors or ()]
    optional = [argument.as_optional_tensor for argument in arguments]
    tensors += [each.as_tensor.name for each in optional if each is not None and each.as_tensor is not None]
    listed = (each.as_tensor for argument in arguments for each in argument.as_optional_tensors or ())
    return tensors + [each.name for each in listed if each is not None]


def first_name_of(arguments: Sequence[Argument]) -> str:
    """The first of these names, "" if there is none."""
    return next(iter(names_of(arguments)), "")


def bind(outputs: Sequence[Argument], results: Operand, scope: Scope, builder: GraphBuilder) -> None:
    """Binds the results of a call to their names in the graph."""
    operands = results.items if isinstance(results, Several) else (results,)
    for output, operand in zip(outputs, operands):
        name = name_of(output) or symbol_of(output)
        if name is not None:
            scope[name] = operand
        elif output.as_tensors is not None and isinstance(operand, TypedValue) and isinstance(operand.value, Ref):
            builder.expect_length(operand, len(output.as_tensors))
            for index, each in enumerate(output.as_tensors):
                scope[each.name] = TypedValue(Item(operand.value.name, index), "Tensor")
