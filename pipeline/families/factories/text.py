"""Renders one factory function: the `#include` of its operator's header, and its wrappers."""

from __future__ import annotations

from pipeline.cpp.signatures import CppParameter, CppSignature
from pipeline.cpp.types import TENSOR_OPTIONS
from pipeline.families.factories.plan import FactoryPlan
from pipeline.families.sections import Sections, Text
from pipeline.releases.model import Release

_TEXT = Text("factories/factories.cpp")


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
