"""The plan of a factory function: all facts that its text needs.

Factories are the functions that create a tensor from options, and all functions with a name in `_like`. The frontend
wraps each of them, so that the result is a variable.

torchgen: `gen_variable_factories.is_factory_function`, `gen_variable_factories.process_function`.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.bindings import bindings, cpp_name
from pipeline.cpp.defaults import binding_default
from pipeline.model.native import NativeFunction
from pipeline.model.schema import has_symint
from pipeline.releases.model import Release


class Parameter(Struct, frozen=True, gc=False, array_like=True):
    """A parameter that the wrapper forwards."""

    name: str
    type: str
    default: str | None
    is_options: bool  # the TensorOptions, which specify whether the result requires a gradient


class Overload(Struct, frozen=True, gc=False, array_like=True):
    """One wrapper."""

    name: str
    parameters: tuple[Parameter, ...]


class FactoryPlan(Struct, frozen=True, gc=False, array_like=True):
    """The wrappers of one function."""

    base: str  # the operator's base name, which is also the name of its header
    overloads: tuple[Overload, ...]  # with int64_t, then with SymInt if the schema has any


def plan(function: NativeFunction, release: Release) -> FactoryPlan:
    """The plan of a factory. Raises SpecError for an argument that C++ cannot express."""
    overloads = [_overload(function, release, symint=False)]
    if has_symint(function.func):
        overloads.append(_overload(function, release, symint=True))
    return FactoryPlan(function.func.name.base, tuple(overloads))


def _overload(function: NativeFunction, release: Release, *, symint: bool) -> Overload:
    """One wrapper. Upstream also adds `at::` to types without namespace; every known release has none left."""
    parameters = tuple(
        Parameter(
            binding.name,
            binding.cpp.passed,
            binding_default(binding, function, release, symint=symint),
            is_options=not binding.type,
        )
        for binding in bindings(function, release, symint=symint)
    )
    return Overload(cpp_name(function.func, symint=symint), parameters)
