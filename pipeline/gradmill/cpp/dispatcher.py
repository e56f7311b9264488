"""The C++ signature of an operator's kernels: names, types of arguments and returns, the call of the next kernel.

The dispatcher takes arguments in the order of the schema, SymInt as SymInt, and each tensor option as its own argument.

torchgen: `dispatcher.arguments`, `dispatcher.returns_type`, `gen_trace_type.type_wrapper_name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name, passing_of, return_names
from gradmill.cpp.kernel_names import DEFAULT_KEY, joined_name
from gradmill.cpp.translate import Goal, Value
from gradmill.cpp.types import Passing, argument_type, optional, return_value_type
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Return, Schema, schema_kind
from gradmill.releases.model import Release


class Parameter(Struct, frozen=True, gc=False, array_like=True):
    """One parameter of a kernel, or of a function that programs call."""

    name: str
    type: str  # as passed: `const at::Tensor &`
    meaning: str = ""  # what the value is to `translate`; "": what the name says
    default: str | None = None


class Signature(Struct, frozen=True, gc=False, array_like=True):
    """The signature of all kernels of an operator."""

    operator: str  # as registered: `add_.Tensor`
    struct: str  # in `at::_ops`: `add__Tensor`
    kernel: str  # the kernel's own name: `add__Tensor`, `add_out_out`
    header: str  # declares the struct: `ATen/ops/add_ops.h`
    returns: str  # `at::Tensor &`
    parameters: tuple[Parameter, ...]

    @property
    def declared(self) -> str:
        """The parameters of a kernel, after the set of remaining dispatch keys."""
        return ", ".join(("c10::DispatchKeySet ks", *(f"{p.type} {p.name}" for p in self.parameters)))

    def passed(self, keys: str) -> str:
        """The arguments of a call of the next kernel, with `keys` as the set of remaining dispatch keys."""
        return ", ".join((keys, *(p.name for p in self.parameters)))


def signature_of(function: NativeFunction, release: Release) -> Signature:
    """The signature of a function; raises a SpecError for a type without C++."""
    schema, how = function.func, passing_of(function, release, symint=True)
    return Signature(
        str(schema.name),
        unambiguous_name(schema.name),
        kernel_name(schema),
        f"ATen/ops/{schema.name.base}_ops.h",
        returns_type(function, release),
        parameters(schema, how),
    )


def parameters(schema: Schema, how: Passing) -> tuple[Parameter, ...]:
    """The parameters of a kernel; raises a SpecError for a type without C++."""
    return tuple(Parameter(a.name, argument_type(a.type, how, mutable=a.is_write).passed) for a in schema.arguments)


def declared(of: Iterable[Parameter]) -> str:
    """Parameters as in a declaration."""
    return ", ".join(f"{p.type} {p.name}" for p in of)


def values(of: Iterable[Parameter]) -> list[Value]:
    """Parameters as the scope of a function's body."""
    return [Value(p.meaning or p.name, p.type, p.name) for p in of]


def goals(of: Iterable[Parameter]) -> list[Goal]:
    """Parameters as what a call needs."""
    return [(p.name, p.type) for p in of]


def kernel_name(schema: Schema, dispatch_key: str = DEFAULT_KEY) -> str:
    """The name of a kernel. Its overload and its dispatch key, unless DEFAULT_KEY, make the name unambiguous."""
    return joined_name(cpp_name(schema), schema.name.overload, dispatch_key)


def returns_type(function: NativeFunction, release: Release) -> str:
    """The C++ type of all returns together."""
    return together([return_type(r, function, release) for r in function.func.returns])


def together(types: Sequence[str]) -> str:
    """The C++ type of several values: void, the only type, or a tuple."""
    if len(types) == 1:
        return types[0]
    return f"::std::tuple<{','.join(types)}>" if types else "void"


def return_type(returned: Return, function: NativeFunction, release: Release) -> str:
    """The C++ type of one return. A tensor that the function writes to is returned as it was passed."""
    value = return_value_type(returned.type, release.base_types, mutable=returned.is_write)
    if not returned.is_write or returned.type not in ("Tensor", "Tensor?"):
        return value
    tensor = release.base_types["Tensor"]
    passed = f"const {tensor} &" if function.use_const_ref_for_mutable_tensors else f"{tensor} &"
    return passed if returned.type == "Tensor" else optional(passed)


def declared_results(schema: Schema) -> str:
    """The declaration of variables for the results of the operator: `auto result`, `auto [values, indices]`."""
    if len(schema.returns) == 1:
        return f"auto {schema.returns[0].name or 'result'}"
    return f"auto [{', '.join(return_names(schema))}]"


def returned_results(schema: Schema) -> str:
    """The expression that a kernel returns, from these variables; "" for nothing."""
    names = return_names(schema)
    if len(names) < 2:
        return names[0] if names else ""
    if schema_kind(schema) == "out":
        return f"std::forward_as_tuple({', '.join(names)})"
    return f"std::make_tuple({', '.join(f'std::move({name})' for name in names)})"
