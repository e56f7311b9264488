"""Renders one BackendSelect kernel: the `#include` of its operator's header, the kernel, its registration."""

from __future__ import annotations

from pipeline.families.backend_select.plan import BackendSelectPlan
from pipeline.families.sections import Text
from pipeline.releases.model import Release

_TEXT = Text("backend_select/kernel.cpp")


def include(plan: BackendSelectPlan, release: Release) -> str:
    """The `#include` of the operator's header."""
    return f"#include <{plan.signature.header}>"


def registration(plan: BackendSelectPlan, release: Release) -> str:
    """The registration of the kernel."""
    return f'm.impl("aten::{plan.signature.operator}", TORCH_FN({plan.signature.kernel}));'


def definition(plan: BackendSelectPlan, release: Release) -> str:
    """The kernel."""
    text, signature = _TEXT.of(release), plan.signature
    keys = text["keys_of_tensors" if plan.tensors else "keys"]
    return text["definition"].fill(
        {
            "schema": plan.schema,
            "returns": signature.returns,
            "kernel": signature.kernel,
            "parameters": [f"{p.type} {p.name}" for p in signature.parameters],
            "keys": keys.fill({"tensors": list(plan.tensors)}).removesuffix("\n"),
            "struct": signature.struct,
            "arguments": [p.name for p in signature.parameters],
        }
    )
