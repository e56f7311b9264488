"""The C++ signatures of ATen's kernels, the functions in `at::native`.

They are called with what the dispatcher passes; where a kernel does not support SymInt, with int64_t.

torchgen: `native.arguments`, `native.argumenttype_type`, `native.name`.
"""

from __future__ import annotations

from pipeline.cpp.bindings import passing_of
from pipeline.cpp.defaults import default_expression
from pipeline.cpp.types import CppType, Passing, argument_type, optional
from pipeline.model.native import NativeFunction
from pipeline.model.schema import Argument
from pipeline.releases.model import Release

_OPTIONS = 4  # dtype, layout, device, pin_memory


def native_type(argument: Argument, how: Passing) -> CppType:
    """The C++ type of a kernel's argument. An optional tensor that it writes to stays optional, unlike elsewhere."""
    cpp = argument_type(argument.type, how, mutable=argument.is_write)
    if argument.type == "Tensor?" and argument.is_write and not how.const_ref_mutable:
        value = optional(how.base_types["Tensor"])
        return CppType(f"{value} &", value)
    return cpp


def native_parameters(function: NativeFunction, release: Release, *, symint: bool) -> str:
    """The parameters of a kernel as declared, with defaults unless it has out arguments. SpecError for a type or a
    default without C++."""
    schema, how = function.func, passing_of(function, release, symint=symint)
    options = range(0)
    if schema.options_index is not None:
        first = len(schema.positional) + schema.options_index
        options = range(first, first + _OPTIONS)
    declared = []
    for i, argument in enumerate(schema.arguments):
        default = None
        if not schema.out and i in options:
            default = "{}"
        elif not schema.out and argument.default is not None:
            default = default_expression(argument.default, argument.type, release, symint=symint)
        text = f"{native_type(argument, how).passed} {argument.name}"
        declared.append(text if default is None else f"{text}={default}")
    return ", ".join(declared)
