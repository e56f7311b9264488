"""The plan of an operator's C++ functions and methods: all facts that their text needs.

Each calls the operator's struct, which takes what the dispatcher does. Functions that take the set of remaining
dispatch keys, too, redispatch.

torchgen: `gen.ComputeFunction`, `gen.ComputeTensorMethod`, `gen.ComputeRedispatchFunction`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.dispatcher import goals, signature_of
from gradmill.cpp.signatures import CppSignature, cpp_signatures, passed
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.static import header_keys


class Wrapper(Struct, frozen=True, gc=False, array_like=True):
    """A function or a method, and the arguments with which it calls the operator."""

    signature: CppSignature
    arguments: str


class CppApiPlan(Struct, frozen=True, gc=False, array_like=True):
    """The C++ functions and methods of an operator."""

    schema: str
    base: str  # the base name of the operator
    struct: str  # in `at::_ops`
    functions: tuple[Wrapper, ...]
    methods: tuple[Wrapper, ...]
    is_function: bool  # whether programs call the functions: otherwise they only redispatch
    has_symint: bool
    keys: tuple[str, ...]  # the dispatch keys whose functions of the operator are called without the dispatcher


def plan(function: NativeFunction, release: Release) -> CppApiPlan:
    """The plan of an operator. Raises SpecError for a type without C++, and for a method without `self`."""
    schema, operator = function.func, signature_of(function, release)
    if "method" in function.variants and schema.self_argument is None:
        raise SpecError("a method needs an argument 'self'", "drop 'method'", field=("variants",))

    def wrappers(*, method: bool) -> tuple[Wrapper, ...]:
        signatures = cpp_signatures(function, release, method=method, fallback=function.manual_cpp_binding)
        return tuple(Wrapper(each, passed(each, goals(operator.parameters), method=method)) for each in signatures)

    return CppApiPlan(
        schema=str(schema),
        base=schema.name.base,
        struct=operator.struct,
        functions=wrappers(method=False),
        methods=wrappers(method=True) if "method" in function.variants else (),
        is_function="function" in function.variants,
        has_symint=has_symint(schema),
        keys=tuple(header_keys(function, release)),
    )
