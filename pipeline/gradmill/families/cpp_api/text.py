"""The text of an operator's C++ functions and methods: `at::add`, `at::redispatch::add`, `Tensor::add`.

Each calls the operator's struct, which takes what the dispatcher does. Functions that take the set of remaining
dispatch keys, too, redispatch.

torchgen: `gen.ComputeFunction`, `gen.ComputeTensorMethod`, `gen.ComputeRedispatchFunction`.
"""

from __future__ import annotations

from gradmill.cpp.dispatcher import goals, signature_of
from gradmill.cpp.signatures import cpp_signatures, passed
from gradmill.families.cpp_api import FUNCTION, METHOD, METHOD_DECLARATION, REDISPATCH
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


def render(function: NativeFunction, release: Release) -> dict[str, str]:
    """The functions, the headers of what they call without the dispatcher, and the methods, if it has some. Raises
    SpecError for a type without C++, and for a method without `self`."""
    text, schema, is_method = _TEXT.of(release), function.func, "method" in function.variants
    if is_method and schema.self_argument is None:
        raise SpecError("a method needs an argument 'self'", "drop 'method'", field=("variants",))
    functions = _filled(function, release, method=False)
    keys = header_keys(function, release)
    pieces = {
        INCLUDE: "\n".join(f"#include <ATen/ops/{schema.name.base}_{key.lower()}_dispatch.h>" for key in keys),
        FUNCTION: _functions(function, functions, release),
        REDISPATCH: "".join(text["redispatch"].fill(values) for values in functions),
    }
    if is_method:
        methods = _filled(function, release, method=True)
        pieces[METHOD_DECLARATION] = "".join(text["method_declaration"].fill(values) for values in methods)
        pieces[METHOD] = "".join(text["method"].fill(values) for values in methods)
    return pieces


def _filled(function: NativeFunction, release: Release, *, method: bool) -> list[dict[str, Value]]:
    """The values of the holes for each C++ function, or method."""
    operator, filled = signature_of(function, release), []
    for each in cpp_signatures(function, release, method=method, fallback=function.manual_cpp_binding):
        arguments, declared = passed(each, goals(operator.parameters), method=method), each.declared()
        values: dict[str, Value] = {
            "schema": str(function.func),
            "returns": each.returns,
            "name": each.name,
            "template": each.template_name,
            "parameters": declared,
            "defined": each.declared(defaults=False),
            "keyed_parameters": [f"c10::DispatchKeySet {_KEYS}", *declared],
            "struct": operator.struct,
            "arguments": arguments,
            "keyed_arguments": f"{_KEYS}, {arguments}" if arguments else _KEYS,
            "integer": "c10::SymInt" if each.symint else "int64_t",
        }
        filled.append(values)
    return filled


def _functions(function: NativeFunction, filled: list[dict[str, Value]], release: Release) -> str:
    """The functions of `at`, unless they only redispatch, and for those with SymInt the templates that take one or the
    other integer. Upstream writes no line end between a template and the function before it."""
    text, parts = _TEXT.of(release), []
    for values in filled:
        if "function" in function.variants:
            parts.append(text["function"].fill(values).removesuffix("\n"))
        if has_symint(function.func):
            parts.append("\n" + text["template"].fill(values))
    return "".join(parts)
