"""The plan of an operator's struct: all facts that its text needs.

torchgen: `gen.ComputeOperators`.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.dispatcher import Signature, signature_of
from pipeline.model.native import NativeFunction
from pipeline.releases.model import Release


class OperatorPlan(Struct, frozen=True, gc=False, array_like=True):
    """The struct of one function."""

    signature: Signature
    root: str  # names the headers
    name: str  # without its overload
    overload: str
    schema: str


def plan(function: NativeFunction, release: Release) -> OperatorPlan:
    """The plan of an operator's struct. Raises SpecError for a type that C++ lacks."""
    name = function.func.name
    return OperatorPlan(
        signature_of(function, release),
        name.base,
        name.unqualified,
        name.overload,
        str(function.func),
    )
