"""The C++ signatures of a backend's kernels, and calls between them and the dispatcher.

A kernel of a backend outside of ATen takes what the dispatcher passes; where it does not support SymInt, int64_t.

torchgen: `dispatcher.jit_arguments`, `translate.translate`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.cpp.bindings import passing_of
from pipeline.cpp.dispatcher import Parameter, returns_type
from pipeline.cpp.types import argument_type
from pipeline.model.native import NativeFunction
from pipeline.model.regex import regex
from pipeline.model.schema import Argument, Schema
from pipeline.problems.problem import SpecError
from pipeline.releases.model import Release

_SIZE = regex(r"\[\d+\]")
# Conversions by schema type: of what the dispatcher passes to what a kernel without SymInt takes, and back.
_TO_INT = {
    "SymInt": "{0}.guard_int(__FILE__, __LINE__)",
    "SymInt?": "{0}.has_value() ? ::std::make_optional({0}->guard_int(__FILE__, __LINE__)) : ::std::nullopt",
    "SymInt[]": "C10_AS_INTARRAYREF_SLOW({0})",
    "SymInt[]?": "{0}.has_value() ? ::std::make_optional(C10_AS_INTARRAYREF_SLOW(*{0})) : ::std::nullopt",
}
_TO_SYMINT = {
    "SymInt": "{0}",
    "SymInt?": "{0}.has_value() ? ::std::make_optional(c10::SymInt(*{0})) : ::std::nullopt",
    "SymInt[]": "c10::fromIntArrayRefSlow({0})",
    "SymInt[]?": "{0}.has_value() ? ::std::make_optional(c10::fromIntArrayRefSlow(*{0})) : ::std::nullopt",
}
# The options that a factory without out arguments takes, as its variant with `out` finds them.
_OF_OUT = {
    "dtype": "out.scalar_type()",
    "layout": "out.layout()",
    "device": "out.device()",
    "pin_memory": "::std::nullopt",
}


def parameters_of(function: NativeFunction, release: Release, *, symint: bool) -> tuple[Parameter, ...]:
    """The parameters of a kernel. Raises a SpecError for a type without C++."""
    how = passing_of(function, release, symint=symint)
    return tuple(
        Parameter(a.name, argument_type(a.type, how, mutable=a.is_write).passed) for a in function.func.arguments
    )


def declarator(function: NativeFunction, name: str, release: Release, *, symint: bool) -> str:
    """The declaration of a kernel, without a semicolon. Raises a SpecError for a type without C++."""
    parameters = ", ".join(f"{p.type} {p.name}" for p in parameters_of(function, release, symint=symint))
    return f"{returns_type(function, release)} {name}({parameters})"


def to_kernel(schema: Schema, *, symint: bool) -> list[str]:
    """The arguments of a call of a kernel with what the dispatcher passes. SpecError if one cannot be converted."""
    return [a.name if symint else _converted(a, _TO_INT) for a in schema.arguments]


def to_dispatcher(schema: Schema, *, symint: bool) -> list[str]:
    """The arguments of a call through the dispatcher with a kernel's parameters. SpecError as in `to_kernel`."""
    return [a.name if symint else _converted(a, _TO_SYMINT) for a in schema.arguments]


def _converted(argument: Argument, forms: dict[str, str]) -> str:
    if "SymInt" not in argument.type:
        return argument.name
    form = forms.get(_SIZE.sub("[]", argument.type))
    if form is None:
        problem = f"argument '{argument.name}' of type '{argument.type}' cannot be converted to int64_t"
        raise SpecError(problem, "list the operator in symint, too", field=("func",), needle=str(argument))
    return form.format(argument.name)


def to_functional(variant: Schema, functional: Schema) -> list[str]:
    """The arguments of a call of the functional variant by another one. SpecError if one has no value there."""
    passed = {a.name for a in variant.arguments}
    return [a.name if a.name in passed else _of_out(a, variant.out) for a in functional.arguments]


def _of_out(argument: Argument, out: Iterable[Argument]) -> str:
    if argument.name not in _OF_OUT or all(a.name != "out" for a in out):
        problem = f"the functional variant takes '{argument.name}', which this one does not have"
        raise SpecError(problem, "give this variant a kernel of its own", field=("func",))
    return _OF_OUT[argument.name]
