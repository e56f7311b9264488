"""An operator as its kernels see it: names, types of arguments and returns, how the next kernel is called.

The dispatcher takes arguments in the order of the schema, SymInt as it is, and each of the tensor options by itself.
Rules: torchgen.api.dispatcher, torchgen.api.cpp and torchgen.packaged.autograd.gen_trace_type.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.bindings import cpp_name, passing_of, return_names
from pipeline.cpp.types import argument_type, optional, return_value_type
from pipeline.grammar.names import unambiguous_name
from pipeline.model.native import FunctionNames, NativeFunction
from pipeline.model.schema import Return, Schema, schema_kind
from pipeline.releases.model import Release

DEFAULT_KEY = "Default"  # of derivatives that no dispatch key has others for


class Parameter(Struct, frozen=True, gc=False, array_like=True):
    """One parameter of a kernel."""

    name: str
    type: str  # as it is passed: `const at::Tensor &`


class Signature(Struct, frozen=True, gc=False, array_like=True):
    """What all kernels of an operator have in common."""

    operator: str  # as it is registered: `add_.Tensor`
    struct: str  # of `at::_ops`: `add__Tensor`
    kernel: str  # the kernel's own name: `add__Tensor`, `add_out_out`
    header: str  # that declares the struct: `ATen/ops/add_ops.h`
    returns: str  # `at::Tensor &`
    parameters: tuple[Parameter, ...]

    @property
    def declared(self) -> str:
        """The parameters of a kernel, the keys that are left to dispatch to in front."""
        return ", ".join(("c10::DispatchKeySet ks", *(f"{p.type} {p.name}" for p in self.parameters)))

    def passed(self, keys: str) -> str:
        """The arguments with which the next kernel among `keys` is called."""
        return ", ".join((keys, *(p.name for p in self.parameters)))


def signature_of(function: NativeFunction, release: Release) -> Signature:
    """The signature of a function; a SpecError for a type that C++ does not have."""
    schema, how = function.func, passing_of(function, release, symint=True)
    return Signature(
        str(schema.name),
        unambiguous_name(schema.name),
        kernel_name(schema),
        f"ATen/ops/{schema.name.base}_ops.h",
        returns_type(function, release),
        tuple(Parameter(a.name, argument_type(a.type, how, mutable=a.is_write).passed) for a in schema.arguments),
    )


def kernel_name(schema: Schema, dispatch_key: str = DEFAULT_KEY) -> str:
    """The name of a kernel: overload and dispatch key, where there is one, make it unambiguous."""
    return _kernel_name(cpp_name(schema), schema.name.overload, dispatch_key)


def kernel_title(names: FunctionNames, namespace: str) -> str:
    """What a kernel is called from outside of its namespace: `TraceType::add__Tensor`."""
    return f"{namespace}::{_kernel_name(names.cpp_name, names.name.partition('.')[2], DEFAULT_KEY)}"


def _kernel_name(name: str, overload: str, dispatch_key: str) -> str:
    return "_".join((name, *filter(None, [overload]), *([] if dispatch_key == DEFAULT_KEY else [dispatch_key])))


def returns_type(function: NativeFunction, release: Release) -> str:
    """The C++ type of all returns together."""
    found = [return_type(r, function, release) for r in function.func.returns]
    if len(found) == 1:
        return found[0]
    return f"::std::tuple<{','.join(found)}>" if found else "void"


def return_type(returned: Return, function: NativeFunction, release: Release) -> str:
    """The C++ type of one return. A tensor that was written to is returned as it was passed."""
    value = return_value_type(returned.type, release.base_types, mutable=returned.is_write)
    if not returned.is_write or returned.type not in ("Tensor", "Tensor?"):
        return value
    tensor = release.base_types["Tensor"]
    passed = f"const {tensor} &" if function.use_const_ref_for_mutable_tensors else f"{tensor} &"
    return passed if returned.type == "Tensor" else optional(passed)


def declared_results(schema: Schema) -> str:
    """The variables that take what the operator returns: `auto result`, `auto [values, indices]`."""
    if len(schema.returns) == 1:
        return f"auto {schema.returns[0].name or 'result'}"
    return f"auto [{', '.join(return_names(schema))}]"


def returned_results(schema: Schema) -> str:
    """What a kernel returns, once these variables have their values; "" for nothing."""
    names = return_names(schema)
    if len(names) < 2:
        return names[0] if names else ""
    if schema_kind(schema) == "out":
        return f"std::forward_as_tuple({', '.join(names)})"
    return f"std::make_tuple({', '.join(f'std::move({name})' for name in names)})"
