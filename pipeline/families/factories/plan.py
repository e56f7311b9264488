"""The plan of a factory function: all facts that its text needs.

Factories are the functions that create a tensor from options, and all functions with a name in `_like`. The frontend
wraps each of them, so that the result is a variable.

torchgen: `gen_variable_factories.is_factory_function`, `gen_variable_factories.process_function`.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.signatures import CppSignature, cpp_signatures
from pipeline.model.native import NativeFunction
from pipeline.releases.model import Release


class FactoryPlan(Struct, frozen=True, gc=False, array_like=True):
    """The wrappers of one function."""

    base: str  # the operator's base name, which is also the name of its header
    overloads: tuple[CppSignature, ...]  # with int64_t, then with SymInt if the schema has any


def plan(function: NativeFunction, release: Release) -> FactoryPlan:
    """The plan of a factory. Raises SpecError for an argument that C++ cannot express."""
    signatures = cpp_signatures(function, release)
    return FactoryPlan(function.func.name.base, tuple(each for each in signatures if not each.faithful))
