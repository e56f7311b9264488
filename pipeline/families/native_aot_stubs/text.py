"""Renders a dispatch stub.

torchgen since 2.15: `native_aot.gen_stub_declaration`, `native_aot.gen_stub_definition`.
"""

from __future__ import annotations

from pipeline.families.native_aot_stubs.plan import StubPlan
from pipeline.families.sections import Text
from pipeline.releases.model import Release

_TEXT = Text("native_aot_stubs/native_aot.cpp")


def declaration(plan: StubPlan, release: Release) -> str:
    """The declaration."""
    return _TEXT.of(release)["declaration"].fill({"name": plan.name, "parameters": plan.parameters})


def definition(plan: StubPlan, release: Release) -> str:
    """The definition."""
    return _TEXT.of(release)["definition"].fill({"name": plan.name})
