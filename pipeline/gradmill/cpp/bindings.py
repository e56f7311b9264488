"""The C++ function of an operator: its name, its bindings of arguments, and its returns.

torchgen: `cpp.name`, `cpp.arguments`, `cpp.return_names`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.types import TENSOR_OPTIONS, CppType, Passing, argument_type, return_value_type
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, Schema, has_symint
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

# Next to TensorOptions a memory_format argument may be redundant: upstream binds it under this name. No formula uses
# the name, so the argument is never saved.
REDUNDANT_MEMORY_FORMAT = "SpecialArgName.possibly_redundant_memory_format"


class Binding(Struct, frozen=True, gc=False):
    """One argument of the C++ function."""

    name: str
    bound: str  # the name that a saved attribute of this argument has
    cpp: CppType
    type: str  # the schema type; "" for TensorOptions


def cpp_name(schema: Schema, *, symint: bool = False, faithful: bool = False) -> str:
    """The name of the C++ function: `add_`, `add_out`; of the SymInt overload, `zeros_symint`, if `symint`, and of the
    one with the schema's order of arguments, `add_outf`, if `faithful`."""
    suffix = ("_outf" if faithful else "_out") if schema.out else ""
    return schema.name.unqualified + ("_symint" if symint else "") + suffix


def passing_of(function: NativeFunction, release: Release, *, symint: bool) -> Passing:
    """How the C++ function of an operator takes its arguments. SymInt is SymInt if `symint`, else int64_t."""
    return Passing(
        release.base_types,
        symint=symint,
        const_ref_mutable=function.use_const_ref_for_mutable_tensors,
        ilistref=function.part_of_structured_group,
    )


def bindings(
    function: NativeFunction, release: Release, *, symint: bool = True, faithful: bool = False
) -> tuple[Binding, ...]:
    """The arguments of the C++ function: out arguments first, TensorOptions as one argument.

    `symint` is False for the overload that takes int64_t in place of SymInt, `faithful` True for the one with the order
    and the options of the schema. Raises a SpecError for a default without C++, and for a type without C++.
    """
    schema = function.func
    how = passing_of(function, release, symint=symint and has_symint(schema))
    grouped = schema.options_index is not None
    if faithful:
        return tuple(_binding(a, function, how, grouped) for a in schema.arguments)
    if grouped and "options" in function.cpp_no_default_args:
        raise SpecError("cpp_no_default_args names 'options'", field=("cpp_no_default_args",))
    options = Binding("options", "options", CppType(TENSOR_OPTIONS, TENSOR_OPTIONS), "")
    result = [_binding(a, function, how, grouped) for a in schema.out + schema.inputs]
    if schema.options_index is not None:
        at = len(schema.out + schema.positional) + schema.options_index
        result[at : at + 4] = [options]
    return tuple(result)


def _binding(argument: Argument, function: NativeFunction, how: Passing, grouped: bool) -> Binding:
    if argument.default is not None and argument.name not in function.cpp_no_default_args:
        check_default(argument, how)
    bound = REDUNDANT_MEMORY_FORMAT if grouped and argument.name == "memory_format" else argument.name
    return Binding(argument.name, bound, argument_type(argument.type, how, mutable=argument.is_write), argument.type)


def check_default(argument: Argument, how: Passing) -> None:
    """Raises a SpecError for a default without C++: the default of an unsized list must be a list or None.

    A sized list also takes a scalar, and an unsized list of SymInt a number.
    """
    default = argument.default
    assert default is not None
    type_ = argument.type
    if default == "None" and type_.endswith("?"):
        return
    type_ = type_.rstrip("?")
    if not type_.endswith("[]") or (default.startswith("[") and default.endswith("]")):
        return
    if how.symint and default.isdigit() and type_ == "SymInt[]":
        return
    problem = f"argument '{argument.name}' is a list but its default '{default}' is not"
    raise SpecError(problem, "write [...]", needle=str(argument))


def return_names(schema: Schema) -> tuple[str, ...]:
    """The names of the outputs.

    They are `self` for an in-place op, the names of out arguments, the names in the schema, or else `result` or
    `result0`, `result1`, …
    """
    if schema.name.inplace:
        if len(schema.returns) > 1:
            raise SpecError("an in-place op returns more than one value")
        return ("self",) * len(schema.returns)
    if schema.out:
        return tuple(a.name for a in schema.out[: len(schema.returns)])
    arguments = {a.name for a in schema.arguments}
    one = len(schema.returns) == 1
    return tuple(
        (f"{r.name}_return" if r.name in arguments else r.name) if r.name else "result" if one else f"result{i}"
        for i, r in enumerate(schema.returns)
    )


def return_types(schema: Schema, release: Release) -> tuple[str, ...]:
    """The C++ types of the returns, without const and reference."""
    return tuple(return_value_type(r.type, release.base_types, mutable=r.is_write) for r in schema.returns)
