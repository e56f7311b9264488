"""Default values of schema arguments as C++ expressions, in the public C++ API.

torchgen: `cpp.default_expr`.
"""

from __future__ import annotations

import re

from gradmill.cpp.bindings import Binding
from gradmill.grammar.types import element
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.model.schema import Argument, is_list
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

PythonValue = bool | int | float | str

_BOOLEANS = {"true": True, "false": False}
_OPTIONS_SIZE = 4  # dtype, layout, device, pin_memory

_ESCAPE = regex(r"\\(?:'|\Z)|\\.|\"", re.DOTALL)
_ESCAPED = {"\\'": "'", "\\": "'", '"': '\\"'}  # a backslash before the closing quote keeps that quote


def binding_default(binding: Binding, function: NativeFunction, release: Release, *, symint: bool) -> str | None:
    """The C++ default of one argument of `function`, None if it has none; of the SymInt overload if `symint`."""
    schema = function.func
    if not binding.type:
        at = schema.options_index
        assert at is not None
        return _options_default(schema.kwarg_only[at : at + _OPTIONS_SIZE], release)
    argument = next(a for a in schema.arguments if (a.name, a.type) == (binding.name, binding.type))
    if argument.default is None or argument.name in function.cpp_no_default_args:
        return None
    return default_expression(argument.default, argument.type, release, symint=symint)


def _options_default(grouped: tuple[Argument, ...], release: Release) -> str | None:
    """The default of TensorOptions. Upstream knows two: all four None, and a dtype of long, whatever the others are."""
    if all(a.default == "None" for a in grouped):
        return "{}"
    return release.cpp_defaults["long"] if grouped[0].default == "long" else None


def default_expression(default: str, type_: str, release: Release, *, symint: bool) -> str:
    """The C++ expression for `default`, the default in a schema of an argument of type `type_`. SpecError for a list
    without a size whose default is not a list."""
    if default == "None" and type_ == "Tensor?":
        return "{}"
    inner = element(type_)
    if inner is not None and not is_list(type_):
        none = release.cpp_defaults["None"]
        return none if default == "None" else default_expression(default, inner, release, symint=symint)
    if inner is not None and default.startswith("[") and default.endswith("]"):
        return f"{{{default[1:-1]}}}"
    if inner == "SymInt" and symint and default.isdigit():
        return f"c10::SymInt({default})"
    if type_.endswith("[]"):
        problem = f"the default of {type_} is not a list: {default}"
        raise SpecError(problem, "write [...], or a size", needle=f"={default}")
    if type_ == "str" and len(default) > 1 and default[0] == default[-1] == "'":
        return _quoted(default[1:-1])
    return release.cpp_defaults.get(default, default)


def python_value(expression: str) -> PythonValue:
    """A C++ expression as a boolean or a number, if it is one to Python; else its text."""
    if expression in _BOOLEANS:
        return _BOOLEANS[expression]
    for number in (int, float):
        try:
            return number(expression)
        except ValueError:
            continue
    return expression


def _quoted(text: str) -> str:
    """The content of a single-quoted string as a double-quoted string."""
    return '"' + _ESCAPE.sub(lambda match: _ESCAPED.get(match.group(), match.group()), text) + '"'
