"""The C++ signatures of an operator: functions and methods by which programs call it.

An operator has up to four. Next to the convenient one, which takes TensorOptions and has out arguments first, there is
one faithful to its schema; both again with SymInt, if the schema has any.

torchgen: `signatures.CppSignature`, `signatures.CppSignatureGroup`, `cpp.arguments`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from msgspec import Struct

from gradmill.cpp.bindings import bindings, cpp_name
from gradmill.cpp.defaults import binding_default
from gradmill.cpp.dispatcher import Parameter, returns_type, values
from gradmill.cpp.translate import Goal, Value, translate
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint
from gradmill.releases.model import Release


class CppSignature(Struct, frozen=True, gc=False, array_like=True):
    """One C++ function or method of an operator."""

    name: str  # `add_outf`, `zeros_symint`
    template_name: str  # the same without `_symint`: of the template that chooses by the type of integers
    returns: str
    parameters: tuple[Parameter, ...]  # without `self`, if it is a method
    symint: bool
    faithful: bool

    def declared(self, *, defaults: bool = True) -> list[str]:
        """The parameters as in a declaration, with default arguments, or as in a definition."""
        ends = [f"={p.default}" if defaults and p.default is not None else "" for p in self.parameters]
        return [f"{p.type} {p.name}{end}" for p, end in zip(self.parameters, ends)]

    @property
    def declaration(self) -> str:
        """The declaration of the function, without a semicolon."""
        return f"{self.returns} {self.name}({', '.join(self.declared())})"

    @property
    def scope(self) -> list[Value]:
        """The parameters as the scope of the function's body."""
        return values(self.parameters)


def cpp_signatures(
    function: NativeFunction, release: Release, *, method: bool = False, fallback: bool = False
) -> tuple[CppSignature, ...]:
    """The signatures of an operator, in upstream's order. `fallback`: of functions that handwritten ones call.

    Raises a SpecError for a type, or a default, without C++.
    """
    schema = function.func
    forms = (False, True) if schema.options_index is not None or schema.out else (False,)
    own = schema.self_argument if method else None
    returns, prefix, signatures = returns_type(function, release), "__dispatch_" if fallback else "", []
    for symint, faithful in product((False, True) if has_symint(schema) else (False,), forms):
        parameters = tuple(
            Parameter(
                each.name,
                each.cpp.passed,
                each.bound,
                None if faithful else binding_default(each, function, release, symint=symint),
            )
            for each in bindings(function, release, symint=symint, faithful=faithful)
            if own is None or each.name != own.name
        )
        name, template_name = (prefix + cpp_name(schema, symint=each, faithful=faithful) for each in (symint, False))
        signatures.append(CppSignature(name, template_name, returns, parameters, symint, faithful))
    return tuple(signatures)


def passed(signature: CppSignature, goals: Iterable[Goal], *, method: bool = False) -> str:
    """The arguments of a call from the body of a C++ function or method. Raises SpecError as `translate` does."""
    return ", ".join(translate(signature.scope, goals, method=method))
