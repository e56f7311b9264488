"""The plan and the text of a dispatch stub: its parameters are those of the structured kernel's implementation.

torchgen since 2.15: `native_aot.gen_stub_declaration`, `native_aot.gen_stub_definition`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.structured import declared, impl_arguments
from gradmill.families.sections import Text
from gradmill.model.native import AotStub
from gradmill.releases.model import Release

_TEXT = Text("native_aot_stubs/native_aot.cpp")


class StubPlan(Struct, frozen=True, gc=False, array_like=True):
    """A dispatch stub."""

    name: str
    parameters: str


def plan(stub: AotStub, release: Release) -> StubPlan:
    """The plan of a stub. SpecError for a type without C++."""
    return StubPlan(stub.declaration.name, declared(impl_arguments(stub.out), release))


def declaration(plan: StubPlan, release: Release) -> str:
    """The declaration."""
    return _TEXT.of(release)["declaration"].fill({"name": plan.name, "parameters": plan.parameters})


def definition(plan: StubPlan, release: Release) -> str:
    """The definition."""
    return _TEXT.of(release)["definition"].fill({"name": plan.name})
