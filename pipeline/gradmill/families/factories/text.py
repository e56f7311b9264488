"""The plan and the text of a factory function: the `#include` of its operator's header, and its wrappers.

Factories are the functions that create a tensor from options, and all functions with a name in `_like`. The frontend
wraps each of them, so that the result is a variable.

torchgen: `gen_variable_factories.is_factory_function`, `gen_variable_factories.process_function`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.signatures import CppParameter, CppSignature, cpp_signatures
from gradmill.cpp.types import TENSOR_OPTIONS
from gradmill.families.sections import Sections, Text
from gradmill.model.native import NativeFunction
from gradmill.releases.model import Release

_TEXT = Text("factories/factories.cpp")


class FactoryPlan(Struct, frozen=True, gc=False, array_like=True):
    """The wrappers of one function."""

    base: str  # the operator's base name, which is also the name of its header
    overloads: tuple[CppSignature, ...]  # with int64_t, then with SymInt if the schema has any


def plan(function: NativeFunction, release: Release) -> FactoryPlan:
    """The plan of a factory. Raises SpecError for an argument that C++ cannot express."""
    signatures = cpp_signatures(function, release)
    return FactoryPlan(function.func.name.base, tuple(each for each in signatures if not each.faithful))


def include(plan: FactoryPlan, release: Release) -> str:
    """The `#include` of the operator's header."""
    return _TEXT.of(release)["include"].fill({"base": plan.base})


def definition(plan: FactoryPlan, release: Release) -> str:
    """The wrappers, one for each overload."""
    text = _TEXT.of(release)
    return "".join(_wrapper(overload, text) for overload in plan.overloads)


def _wrapper(overload: CppSignature, text: Sections) -> str:
    options = next((p for p in overload.parameters if p.type == TENSOR_OPTIONS), None)
    return text["definition"].fill(
        {
            "name": overload.name,
            "parameters": [_declared(p) for p in overload.parameters],
            "arguments": [_argument(p, text) for p in overload.parameters],
            "requires_grad": f"{options.name}.requires_grad()" if options is not None else "false",
        }
    )


def _declared(parameter: CppParameter) -> str:
    declared = f"{parameter.type} {parameter.name}"
    return declared if parameter.default is None else f"{declared} = {parameter.default}"


def _argument(parameter: CppParameter, text: Sections) -> str:
    """An argument of the call. Operators reject options with requires_grad, so the wrapper sets it on the result."""
    if parameter.type != TENSOR_OPTIONS:
        return parameter.name
    return text["options"].fill({"name": parameter.name}).rstrip("\n")
