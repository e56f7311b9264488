"""The text of a factory function: the `#include` of its operator's header, and its wrappers.

Factories are the functions that create a tensor from options, and all functions with a name in `_like`. The frontend
wraps each of them, so that the result is a variable.

torchgen: `gen_variable_factories.is_factory_function`, `gen_variable_factories.process_function`.
"""

from __future__ import annotations

from gradmill.cpp.dispatcher import Parameter
from gradmill.cpp.signatures import CppSignature, cpp_signatures
from gradmill.cpp.types import TENSOR_OPTIONS
from gradmill.families.family import DEFINITION, INCLUDE
from gradmill.families.sections import Sections, Text
from gradmill.model.native import NativeFunction
from gradmill.releases.model import Release

_TEXT = Text("factories/factories.cpp")


def render(function: NativeFunction, release: Release) -> dict[str, str]:
    """The `#include` of the operator's header, which has its base name; the wrappers: with int64_t, then with SymInt if
    the schema has any. Raises SpecError for an argument that C++ cannot express."""
    text, signatures = _TEXT.of(release), cpp_signatures(function, release)
    return {
        INCLUDE: text["include"].fill({"base": function.func.name.base}),
        DEFINITION: "".join(_wrapper(each, text) for each in signatures if not each.faithful),
    }


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


def _declared(parameter: Parameter) -> str:
    declared = f"{parameter.type} {parameter.name}"
    return declared if parameter.default is None else f"{declared} = {parameter.default}"


def _argument(parameter: Parameter, text: Sections) -> str:
    """An argument of the call. Operators reject options with requires_grad, so the wrapper sets it on the result."""
    if parameter.type != TENSOR_OPTIONS:
        return parameter.name
    return text["options"].fill({"name": parameter.name}).rstrip("\n")
