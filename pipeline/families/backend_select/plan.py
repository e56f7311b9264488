"""The plan of a BackendSelect kernel: all facts that its text needs.

torchgen: `gen.ComputeBackendSelect`.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.dispatcher import Signature, signature_of
from pipeline.model.native import NativeFunction
from pipeline.model.schema import is_tensor_like
from pipeline.releases.model import Release


class BackendSelectPlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of one function."""

    signature: Signature
    schema: str
    tensors: tuple[str, ...]  # arguments that also decide the backend


def plan(function: NativeFunction, release: Release) -> BackendSelectPlan:
    """The plan of a kernel. Raises SpecError for a type that C++ lacks."""
    schema = function.func
    tensors = tuple(a.name for a in schema.arguments if is_tensor_like(a.type))
    return BackendSelectPlan(signature_of(function, release), str(schema), tensors)
