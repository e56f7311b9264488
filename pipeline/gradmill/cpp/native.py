"""The C++ signatures of ATen's kernels, the functions in `at::native`.

They are called with what the dispatcher passes; where a kernel does not support SymInt, with int64_t.

torchgen: `native.arguments`, `native.argumenttype_type`, `native.name`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import cpp_name, passing_of
from gradmill.cpp.defaults import default_expression
from gradmill.cpp.dispatcher import Parameter
from gradmill.cpp.types import CppType, Passing, argument_type, optional
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, Schema
from gradmill.releases.model import Release

_OPTIONS = 4  # dtype, layout, device, pin_memory


def native_name(schema: Schema) -> str:
    """The name of the wrapper of a structured kernel, without prefix: `add_Tensor`, `add_out_out`."""
    return "_".join(filter(None, (cpp_name(schema), schema.name.overload)))


def native_parameters(function: NativeFunction, release: Release, *, symint: bool) -> tuple[Parameter, ...]:
    """The parameters of a kernel. SpecError for a type without C++."""
    how = passing_of(function, release, symint=symint)
    return tuple(Parameter(a.name, _native_type(a, how).passed) for a in function.func.arguments)


def native_declared(function: NativeFunction, release: Release, *, symint: bool) -> str:
    """The parameters of a kernel as declared, with defaults unless it has out arguments. SpecError for a type or a
    default without C++."""
    parameters = native_parameters(function, release, symint=symint)
    defaults = native_defaults(function, release, symint=symint)
    return ", ".join(f"{p.type} {p.name}{default}" for p, default in zip(parameters, defaults))


def _native_type(argument: Argument, how: Passing) -> CppType:
    """The C++ type of a kernel's argument. An optional tensor that it writes to stays optional, unlike elsewhere."""
    cpp = argument_type(argument.type, how, mutable=argument.is_write)
    if argument.type == "Tensor?" and argument.is_write and not how.const_ref_mutable:
        value = optional(how.base_types["Tensor"])
        return CppType(f"{value} &", value)
    return cpp


def native_defaults(function: NativeFunction, release: Release, *, symint: bool) -> list[str]:
    """The default of each parameter, with `=`; "" for none. Tensor options always have one. SpecError for a default
    without C++."""
    schema = function.func
    if schema.out:
        return [""] * len(schema.arguments)
    defaults = [
        "" if a.default is None else f"={default_expression(a.default, a.type, release, symint=symint)}"
        for a in schema.arguments
    ]
    if schema.options_index is not None:
        first = len(schema.positional) + schema.options_index
        defaults[first : first + _OPTIONS] = ["={}"] * _OPTIONS
    return defaults
