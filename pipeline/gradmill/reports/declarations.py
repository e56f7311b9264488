"""The declarations of functions as data, for bindings of other languages: what Declarations.yaml has, and what each
function is in C++."""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.dispatcher import signature_of
from gradmill.cpp.signatures import cpp_signatures
from gradmill.families.declarations.fields import Declaration, declaration_of
from gradmill.model.native import NativeFunction, WithOrigin
from gradmill.releases.model import Release


class MappedArgument(Struct, frozen=True):
    """An argument of a schema, and its types in C++."""

    name: str
    schema: str
    dispatcher: str  # as kernels take it
    cpp: str  # as the C++ function takes it, with int64_t in place of SymInt


class CppInterface(Struct, frozen=True):
    """How C++ calls an operator."""

    struct: str  # with `call` and `redispatch`: `at::_ops::add_Tensor`
    dispatcher: str  # the type of `call`
    functions: list[str]  # the declarations of functions in `at`; none if it is only a method
    methods: list[str]  # those of methods of `at::Tensor`
    headers: list[str]  # with the functions, and with the struct
    arguments: list[MappedArgument]  # in the order of the schema


class DeclaredOperator(Struct, frozen=True):
    """A function: its schema, its declaration, its interface in C++."""

    func: str
    declaration: Declaration
    cpp: CppInterface


def declared(subject: WithOrigin, release: Release) -> DeclaredOperator:
    """A function as data. Raises SpecError for a type, or a default, without C++."""
    function, declaration = subject.function, declaration_of(subject, release)
    return DeclaredOperator(str(function.func), declaration, _interface(function, declaration, release))


def _interface(function: NativeFunction, declaration: Declaration, release: Release) -> CppInterface:
    signature, base = signature_of(function, release), function.func.name.base
    functions = cpp_signatures(function, release) if "function" in function.variants else ()
    methods = cpp_signatures(function, release, method=True) if "method" in function.variants else ()
    mapped = zip(function.func.arguments, signature.parameters, declaration.schema_order_arguments)
    return CppInterface(
        f"at::_ops::{signature.struct}",
        f"{signature.returns} ({', '.join(p.type for p in signature.parameters)})",
        [each.declaration for each in functions],
        [f"{each.declaration} const" for each in methods],
        [f"ATen/ops/{base}.h", signature.header],
        [MappedArgument(a.name, a.type, p.type, declared_.type) for a, p, declared_ in mapped],
    )
