"""Renders the struct of one operator: the `#include`s of its headers, its declaration, its definitions."""

from __future__ import annotations

from pipeline.cpp.literals import string_literal
from pipeline.families.family import DECLARATION, DEFINITION, INCLUDE
from pipeline.families.operators.plan import OperatorPlan
from pipeline.families.sections import Text
from pipeline.releases.model import Release

_TEXT = Text("operators/operators.cpp")


def render(plan: OperatorPlan, release: Release) -> dict[str, str]:
    """All pieces of the operator."""
    text, signature = _TEXT.of(release), plan.signature
    values = {
        "struct": signature.struct,
        "returns": signature.returns,
        "types": ", ".join([p.type for p in signature.parameters]),
        "parameters": [f"{p.type} {p.name}" for p in signature.parameters],
        "arguments": [p.name for p in signature.parameters],
        "name": plan.name,
        "overload": plan.overload,
        "schema": plan.schema,
        "literal": string_literal(plan.schema),
    }
    return {
        INCLUDE: f"#include <ATen/ops/{plan.root}.h>",
        DECLARATION: text["declaration"].fill(values),
        DEFINITION: text["definition"].fill(values),
    }
