"""Renders the registration of one schema, its name in the list of operators, its declaration for backends."""

from __future__ import annotations

import json

from pipeline.cpp.literals import string_literal
from pipeline.families.family import ATEN, DECLARATION, REGISTRATION, library_piece
from pipeline.families.schema_registrations.plan import RegistrationPlan
from pipeline.releases.model import Release


def render(plan: RegistrationPlan, release: Release) -> dict[str, str]:
    """All pieces of the schema. The name of the piece with its registration names the namespace, unless PyTorch's."""
    return {
        library_piece(REGISTRATION, plan.namespace): _registration(plan) if plan.registered else "",
        "name": f'{{"aten::{plan.name}", "{plan.overload}"}},',
        DECLARATION: _declaration(plan, release),
    }


def _registration(plan: RegistrationPlan) -> str:
    before = "" if plan.namespace == ATEN else "  " if plan.begins else "\t"
    if plan.declared_tags:
        tags = ", ".join(f"at::Tag::{tag}" for tag in plan.declared_tags)
        before += f"const std::vector<at::Tag> {plan.tags} = {{{tags}}};\n"
    return f"{before}m.def({string_literal(plan.schema)}, {plan.tags or '{}'});\n"


def _declaration(plan: RegistrationPlan, release: Release) -> str:
    """The declaration of a kernel, with a comment in JSON."""
    signature = plan.signature
    parameters = ", ".join([f"{p.type} {p.name}" for p in signature.parameters])
    declared = f"{signature.returns} {plan.cpp_name}({parameters})"
    if not release.qualifies_declarations:
        declared = declared.replace("at::", "")
    facts = {"schema": f"aten::{plan.schema}", "dispatch": str(plan.has_kernels), "default": str(plan.has_default)}
    return f"{declared}; // {json.dumps(facts)}\n"
