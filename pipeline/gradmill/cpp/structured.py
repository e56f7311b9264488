"""The C++ signatures of structured kernels: of their meta function and of their implementation.

torchgen: `structured.argumenttype_type`, `structured.meta_arguments`, `structured.impl_arguments`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.cpp.translate import Goal
from gradmill.cpp.types import Passing, argument_type, optional
from gradmill.grammar.types import element
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.model.schema import Argument, is_list
from gradmill.releases.model import Release

_SIZE = regex(r"\[\d+\]")
# Types that structured kernels take in another way than functions of the C++ API do, without the sizes of lists.
_OWN = {
    "Tensor?": "at::OptionalTensorRef",
    "Scalar?": "at::OptionalScalarRef",
    "int[]?": "at::OptionalIntArrayRef",
    "Tensor[]": "const at::ITensorListRef &",
    "Tensor?[]": "at::IOptTensorListRef",
    "int[]": "at::IntArrayRef",
    "Dimname[]": "at::DimnameList",
}


def structured_type(type_: str, release: Release) -> str:
    """The C++ type of an argument of schema type `type_`, as passed. SymInt is int64_t, whose lists are plain then.
    SpecError for a type without C++."""
    own, inner = _OWN.get(_SIZE.sub("[]", type_)), element(type_)
    if own is not None:
        return own
    if inner is None or (inner == "bool" and is_list(type_)):
        return argument_type(type_, Passing(release.base_types), mutable=False).passed
    of = structured_type(inner, release)
    return f"at::ArrayRef<{of}>" if is_list(type_) else optional(of)


def declared(arguments: Iterable[Argument], release: Release) -> str:
    """Arguments as parameters of a structured kernel."""
    return ", ".join(f"{structured_type(a.type, release)} {a.name}" for a in arguments)


def goals(arguments: Iterable[Argument], release: Release) -> list[Goal]:
    """Arguments of a structured kernel as what a call needs. SpecError for a type without C++."""
    return [(a.name, structured_type(a.type, release)) for a in arguments]


def meta_arguments(functional: NativeFunction) -> tuple[Argument, ...]:
    """The arguments of the meta function: those of the functional variant."""
    return functional.func.inputs


def impl_arguments(out: NativeFunction) -> tuple[Argument, ...]:
    """The arguments of the implementation: those of the out variant, with precomputed values in place of those that
    they replace, and before the out arguments. `self` is never replaced."""
    schema, precomputed = out.func, out.precomputed
    if precomputed is None:
        return schema.arguments
    given: list[Argument] = []
    for argument in schema.inputs:
        replaced = precomputed.replace.get(argument.name) if argument is not schema.self_argument else None
        given += (argument,) if replaced is None else replaced
    return (*given, *precomputed.add, *schema.out)


def precomputed_arguments(out: NativeFunction) -> tuple[Argument, ...]:
    """The values that the meta function computes for the implementation."""
    if out.precomputed is None:
        return ()
    return (*(each for group in out.precomputed.replace.values() for each in group), *out.precomputed.add)
