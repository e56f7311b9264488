"""Renders what is printed of one signature: the struct of the operator, its registration, names, vmap's plumbing."""

from __future__ import annotations

import json

from gradmill.cpp.literals import string_literal
from gradmill.families.dispatcher_api.plan import SignaturePlan
from gradmill.families.dispatcher_api.plumbing import plumbing
from gradmill.families.dispatcher_api.static_dispatch import static_body
from gradmill.families.family import ATEN, DECLARATION, DEFINITION, INCLUDE, REGISTRATION, library_piece
from gradmill.families.sections import Text
from gradmill.releases.model import Release

_TEXT = Text("dispatcher_api/structs.cpp")


def render(plan: SignaturePlan, release: Release) -> dict[str, str]:
    """All pieces of the signature. That with its registration names the namespace, unless it is PyTorch's."""
    text, signature = _TEXT.of(release), plan.signature
    literal = string_literal(plan.schema)
    parameters = [f"{p.type} {p.name}" for p in signature.parameters]
    values: dict[str, str | list[str]] = {
        "struct": signature.struct,
        "returns": signature.returns,
        "types": ", ".join([p.type for p in signature.parameters]),
        "parameters": parameters,
        "arguments": [p.name for p in signature.parameters],
        "name": plan.name,
        "overload": plan.overload,
        "schema": plan.schema,
        "literal": literal,
    }
    static = plan.static_call
    body = text["dispatched"].fill(values) if static is None else static_body(static, release.static_keys, text)
    return {
        INCLUDE: f"#include <ATen/ops/{plan.root}.h>",
        DECLARATION: text["declaration"].fill(values).removesuffix("\n"),
        DEFINITION: text["definition"].fill({**values, "body": body}),
        library_piece(REGISTRATION, plan.namespace): _registration(plan, literal) if plan.registered else "",
        "name": f'{{"aten::{plan.name}", "{plan.overload}"}},',
        "kernel": _kernel(plan, ", ".join(parameters), release),
        "plumbing": "" if plan.plumbing is None else plumbing(plan.plumbing, signature, release),
    }


def _registration(plan: SignaturePlan, literal: str) -> str:
    before = "" if plan.namespace == ATEN else "  " if plan.begins else "\t"
    if plan.declared_tags:
        tags = ", ".join(f"at::Tag::{tag}" for tag in plan.declared_tags)
        before += f"const std::vector<at::Tag> {plan.tags} = {{{tags}}};\n"
    return f"{before}m.def({literal}, {plan.tags or '{}'});\n"


def _kernel(plan: SignaturePlan, parameters: str, release: Release) -> str:
    """The declaration of a kernel, with a comment in JSON."""
    declared = f"{plan.signature.returns} {plan.cpp_name}({parameters})"
    if not release.qualifies_declarations:
        declared = declared.replace("at::", "")
    facts = {"schema": f"aten::{plan.schema}", "dispatch": str(plan.has_kernels), "default": str(plan.has_default)}
    return f"{declared}; // {json.dumps(facts)}\n"
