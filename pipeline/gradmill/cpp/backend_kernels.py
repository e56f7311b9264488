"""The C++ signatures of a backend's kernels, and calls between them and the dispatcher.

A kernel of a backend outside of ATen takes what the dispatcher passes; where it does not support SymInt, int64_t.

torchgen: `signatures.kernel_signature`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter, declared, goals, parameters, returns_type, values
from gradmill.cpp.translate import translate
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema
from gradmill.releases.model import Release


def parameters_of(function: NativeFunction, release: Release, *, symint: bool) -> tuple[Parameter, ...]:
    """The parameters of a kernel. Raises a SpecError for a type without C++."""
    return parameters(function.func, passing_of(function, release, symint=symint))


def declarator(function: NativeFunction, name: str, release: Release, *, symint: bool) -> str:
    """The declaration of a kernel, without a semicolon. Raises a SpecError for a type without C++."""
    parameters = declared(parameters_of(function, release, symint=symint))
    return f"{returns_type(function, release)} {name}({parameters})"


def to_kernel(function: NativeFunction, release: Release, *, symint: bool) -> list[str]:
    """The arguments of a call of a kernel with what the dispatcher passes. SpecError if one cannot be converted."""
    passed = parameters_of(function, release, symint=True)
    return translate(values(passed), goals(parameters_of(function, release, symint=symint)))


def to_dispatcher(function: NativeFunction, release: Release, *, symint: bool) -> list[str]:
    """The arguments of a call through the dispatcher with a kernel's parameters. SpecError as in `to_kernel`."""
    passed = parameters_of(function, release, symint=symint)
    return translate(values(passed), goals(parameters_of(function, release, symint=True)))


def to_functional(function: NativeFunction, functional: Schema, release: Release) -> list[str]:
    """The arguments of a call of the functional variant by another one. SpecError if one has no value there."""
    how = passing_of(function, release, symint=True)
    return translate(values(parameters(function.func, how)), goals(parameters(functional, how)))
