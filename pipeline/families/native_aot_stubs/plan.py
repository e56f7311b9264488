"""The plan of a dispatch stub: its parameters are those of the structured kernel's implementation.

torchgen since 2.15: `native_aot.gen_stub_declaration`.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.structured import declared, impl_arguments
from pipeline.model.native import AotStub
from pipeline.releases.model import Release


class StubPlan(Struct, frozen=True, gc=False, array_like=True):
    """A dispatch stub."""

    name: str
    parameters: str


def plan(stub: AotStub, release: Release) -> StubPlan:
    """The plan of a stub. SpecError for a type without C++."""
    return StubPlan(stub.declaration.name, declared(impl_arguments(stub.out), release))
