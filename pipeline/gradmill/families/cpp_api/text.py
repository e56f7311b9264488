"""The text of an operator's C++ functions and methods: `at::add`, `at::redispatch::add`, `Tensor::add`.

Each calls the operator's struct, which takes what the dispatcher does. Functions that take the set of remaining
dispatch keys, too, redispatch.

torchgen: `gen.ComputeFunction`, `gen.ComputeTensorMethod`, `gen.ComputeRedispatchFunction`.
"""

from __future__ import annotations

from typing import NamedTuple

from gradmill.cpp.dispatcher import goals, signature_of
from gradmill.cpp.signatures import CppSignature, cpp_signatures, passed
from gradmill.families.cpp_api.files import FUNCTION, METHOD, METHOD_DECLARATION, REDISPATCH
from gradmill.families.family import INCLUDE
from gradmill.families.sections import Text
from gradmill.families.template import Value
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.static import header_keys

_TEXT = Text("cpp_api/cpp_api.cpp")
_KEYS = "dispatchKeySet"


class Wrapper(NamedTuple):
    """A function or a method."""

    signature: CppSignature
    arguments: str  # with which it calls the operator
    values: dict[str, Value]  # of the holes in its text


def render(function: NativeFunction, release: Release) -> dict[str, str]:
    """The functions, the headers of what they call without the dispatcher, and the methods, if it has some. Raises
    SpecError for a type without C++, and for a method without `self`."""
    text, schema, is_method = _TEXT.of(release), function.func, "method" in function.variants
    if is_method and schema.self_argument is None:
        raise SpecError("a method needs an argument 'self'", "drop 'method'", field=("variants",))
    functions = _wrappers(function, release, method=False)
    keys = header_keys(function, release)
    pieces = {
        INCLUDE: "\n".join(f"#include <ATen/ops/{schema.name.base}_{key.lower()}_dispatch.h>" for key in keys),
        FUNCTION: _functions(function, functions, release),
        REDISPATCH: "".join(text["redispatch"].fill(_redispatching(each)) for each in functions),
    }
    if is_method:
        methods = _wrappers(function, release, method=True)
        pieces[METHOD_DECLARATION] = "".join(text["method_declaration"].fill(each.values) for each in methods)
        defined = (each.values | {"parameters": each.signature.declared(defaults=False)} for each in methods)
        pieces[METHOD] = "".join(text["method"].fill(values) for values in defined)
    return pieces


def _wrappers(function: NativeFunction, release: Release, *, method: bool) -> list[Wrapper]:
    operator, wrappers = signature_of(function, release), []
    for each in cpp_signatures(function, release, method=method, fallback=function.manual_cpp_binding):
        arguments = passed(each, goals(operator.parameters), method=method)
        values: dict[str, Value] = {
            "schema": str(function.func),
            "returns": each.returns,
            "name": each.name,
            "parameters": each.declared(),
            "struct": operator.struct,
            "arguments": arguments,
            "integer": "c10::SymInt" if each.symint else "int64_t",
        }
        wrappers.append(Wrapper(each, arguments, values))
    return wrappers


def _functions(function: NativeFunction, wrappers: list[Wrapper], release: Release) -> str:
    """The functions of `at`, unless they only redispatch, and for those with SymInt the templates that take one or the
    other integer. Upstream writes no line end between a template and the function before it."""
    text, parts = _TEXT.of(release), []
    for each in wrappers:
        if "function" in function.variants:
            parts.append(text["function"].fill(each.values).removesuffix("\n"))
        if has_symint(function.func):
            parts.append("\n" + text["template"].fill(each.values | {"name": each.signature.template_name}))
    return "".join(parts)


def _redispatching(wrapper: Wrapper) -> dict[str, Value]:
    return wrapper.values | {
        "parameters": [f"c10::DispatchKeySet {_KEYS}", *wrapper.signature.declared()],
        "arguments": f"{_KEYS}, {wrapper.arguments}" if wrapper.arguments else _KEYS,
    }
