"""The declaration of a function: what Declarations.yaml has of it, field by field.

Types are those of the C++ API, with int64_t in place of SymInt; defaults that are numbers or booleans in C++ are such
values.

torchgen: `gen.compute_declaration_yaml`, `gen.compute_argument_yaml`, `gen.compute_returns_yaml`, `gen.dynamic_type`,
`gen.pythonify_default`.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from gradmill.cpp.bindings import Binding, bindings, cpp_name, passing_of, return_names
from gradmill.cpp.defaults import PythonValue, binding_default, default_expression, python_value
from gradmill.cpp.dispatcher import return_type, returns_type
from gradmill.cpp.types import TENSOR_OPTIONS, Passing, argument_type
from gradmill.grammar.types import element
from gradmill.model.native import NativeFunction, WithOrigin
from gradmill.model.regex import regex
from gradmill.model.schema import Argument, Schema, is_list
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.rules.native.entry import composite_implicit_only

_SIZE = regex(r"(.*)\[(\d+)\]")


class DeclaredArgument(Struct, frozen=True, gc=False):
    """An argument of the C++ function. The dynamic type of an optional is the type of its value; `size` is that of a
    list of fixed size; out arguments have `output` and `allocate`."""

    annotation: str | None  # as in the schema: `a!`
    dynamic_type: str
    is_nullable: bool
    name: str
    type: str
    allocate: bool | UnsetType = UNSET
    default: PythonValue | UnsetType = UNSET
    field_name: str | UnsetType = UNSET  # the name of the return that this out argument becomes
    kwarg_only: bool | UnsetType = UNSET
    output: bool | UnsetType = UNSET
    size: int | UnsetType = UNSET


class DeclaredReturn(Struct, frozen=True, gc=False):
    """A return of the C++ function. `field_name` is its name in the schema."""

    dynamic_type: str
    name: str
    type: str
    field_name: str | UnsetType = UNSET


class Declaration(Struct, frozen=True):
    """The declaration of one function, with the names and the order of fields in Declarations.yaml."""

    name: str  # of the C++ function
    operator_name: str
    overload_name: str
    manual_kernel_registration: bool
    category_override: str
    schema_string: str
    arguments: list[DeclaredArgument]  # out arguments first, tensor options as one
    schema_order_cpp_signature: str
    schema_order_arguments: list[DeclaredArgument]
    method_of: list[str]
    mode: str
    python_module: str
    returns: list[DeclaredReturn]
    inplace: bool
    is_factory_method: bool
    abstract: bool
    device_guard: bool
    with_gil: bool
    deprecated: bool
    has_math_kernel: bool  # a CompositeImplicitAutograd kernel


def declaration_of(subject: WithOrigin, release: Release) -> Declaration:
    """The declaration of a function. Raises SpecError for a type, or a default, without C++."""
    function = subject.function
    schema, how = function.func, passing_of(function, release, symint=False)
    fields = {a.name: r.name for a, r in zip(schema.out, schema.returns) if r.name}  # of what out arguments become
    ordered = [
        _argument(argument=a, schema=schema, how=how, release=release, field=fields.get(a.name, UNSET))
        for a in schema.arguments
    ]
    bound, first = bindings(function, release, symint=False), len(ordered) - len(schema.out)
    declared: dict[str, list[DeclaredArgument]] = {}  # an out argument may have the name of another one
    for each in (*ordered[first:], *ordered[:first]):
        declared.setdefault(each.name, []).append(each)
    has_method = "method" in function.variants
    return Declaration(
        name=cpp_name(schema),
        operator_name=schema.name.unqualified,
        overload_name=schema.name.overload,
        manual_kernel_registration=function.manual_kernel_registration,
        category_override=function.category_override or "",
        schema_string=f"aten::{schema}",
        arguments=[declared[each.name].pop(0) if each.type else _options(each, function, release) for each in bound],
        schema_order_cpp_signature=f"{returns_type(function, release)} ({', '.join([a.type for a in ordered])})",
        schema_order_arguments=ordered,
        method_of=["Type", *["Tensor"] * has_method, *["namespace"] * ("function" in function.variants)],
        mode="native",
        python_module=function.python_module or "",
        returns=_returns(function, how, release),
        inplace=schema.name.inplace,
        is_factory_method=schema.options_index is not None and not has_method,
        abstract=_is_abstract(subject.origin, release),
        device_guard=function.device_guard,
        with_gil=False,
        deprecated=False,
        has_math_kernel=IMPLICIT in function.dispatch,
    )


def _is_abstract(function: NativeFunction, release: Release) -> bool:
    """Whether a function, and what is generated from it, has kernels of devices, besides those that ATen omits."""
    kernels = {key: kernel for key, kernel in function.dispatch.items() if key not in release.absent_keys}
    omitted = len(kernels) < len(function.dispatch) and function.structured_delegate is None
    return function.is_abstract and not (omitted and composite_implicit_only(kernels))


def _argument(
    argument: Argument, schema: Schema, how: Passing, release: Release, field: str | UnsetType
) -> DeclaredArgument:
    out = True if argument.name in (each.name for each in schema.out) else UNSET
    default: PythonValue | UnsetType = UNSET
    if argument.default is not None:
        default = python_value(default_expression(argument.default, argument.type, release, symint=False))
    return DeclaredArgument(
        annotation=argument.annotation,
        dynamic_type=_dynamic_type(argument.type, how),
        is_nullable=_is_nullable(argument.type),
        name=argument.name,
        type=argument_type(argument.type, how, mutable=argument.is_write).passed,
        allocate=out,
        default=default,
        field_name=field,
        kwarg_only=True if argument.name in (each.name for each in schema.kwarg_only) else UNSET,
        output=out,
        size=_size(argument.type),
    )


def _options(binding: Binding, function: NativeFunction, release: Release) -> DeclaredArgument:
    """The four tensor options as one argument."""
    default = binding_default(binding, function, release, symint=False)
    return DeclaredArgument(
        annotation=None,
        dynamic_type=TENSOR_OPTIONS,
        is_nullable=False,
        name=binding.name,
        type=TENSOR_OPTIONS,
        default=UNSET if default is None else default,
        kwarg_only=True,
    )


def _returns(function: NativeFunction, how: Passing, release: Release) -> list[DeclaredReturn]:
    named = zip(function.func.returns, return_names(function.func))
    return [
        DeclaredReturn(_dynamic_type(r.type, how), name, return_type(r, function, release), r.name or UNSET)
        for r, name in named
    ]


def _dynamic_type(type_: str, how: Passing) -> str:
    while type_.endswith("?"):
        type_ = type_[:-1]
    return how.base_types["Tensor"] if type_ == "Tensor" else argument_type(type_, how, mutable=False).passed


def _is_nullable(type_: str) -> bool:
    """Whether the type is optional, or a list of optional values."""
    inner = element(type_)
    return type_.endswith("?") or (inner is not None and is_list(type_) and _is_nullable(inner))


def _size(type_: str) -> int | UnsetType:
    """The size of a list, or of an optional one; bools have it in their C++ type."""
    sized = _SIZE.fullmatch(type_.rstrip("?"))
    return int(sized[2]) if sized is not None and sized[1] != "bool" else UNSET
