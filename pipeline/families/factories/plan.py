"""What is printed of a factory function, worked out once.

Factories are the functions that make a tensor from options, and all whose name ends with `_like`: the frontend wraps
each of them, so that the result is a variable. Rules: torchgen.packaged.autograd.gen_variable_factories.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.bindings import bindings, cpp_name
from pipeline.cpp.defaults import binding_default
from pipeline.model.native import NativeFunction
from pipeline.model.schema import has_symint
from pipeline.releases.model import Release


class Parameter(Struct, frozen=True, gc=False, array_like=True):
    """One parameter of the wrapper, which it passes on."""

    name: str
    type: str
    default: str | None
    is_options: bool  # the TensorOptions: they say whether the result requires a gradient


class Overload(Struct, frozen=True, gc=False, array_like=True):
    """One wrapper."""

    name: str
    parameters: tuple[Parameter, ...]


class FactoryPlan(Struct, frozen=True, gc=False, array_like=True):
    """All that is printed of one function."""

    base: str  # the operator's base name: its header's too
    overloads: tuple[Overload, ...]  # that of int64_t, then that of SymInt where the schema has any


def plan_factory(function: NativeFunction, release: Release) -> FactoryPlan:
    """The plan of a factory; a SpecError for an argument that C++ cannot have."""
    overloads = [_overload(function, release, symint=False)]
    if has_symint(function.func):
        overloads.append(_overload(function, release, symint=True))
    return FactoryPlan(function.func.name.base, tuple(overloads))


def _overload(function: NativeFunction, release: Release, *, symint: bool) -> Overload:
    """Upstream also puts `at::` before types that have no namespace; all have one by now, in every known release."""
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
