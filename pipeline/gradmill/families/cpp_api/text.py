"""Renders the C++ functions of one operator: `at::add`, `at::redispatch::add`, `Tensor::add`."""

from __future__ import annotations

from gradmill.families.cpp_api.plan import CppApiPlan, Wrapper
from gradmill.families.sections import Sections, Text
from gradmill.releases.model import Release

_TEXT = Text("cpp_api/cpp_api.cpp")
_KEYS = "dispatchKeySet"


def function(plan: CppApiPlan, release: Release) -> str:
    """The functions of `at`, and for those with SymInt the templates that take one or the other integer. Upstream
    writes no line end between a template and the function before it."""
    text, parts = _TEXT.of(release), []
    for each in plan.functions:
        if plan.is_function:
            parts.append(_filled(text, "function", plan, each).removesuffix("\n"))
        if plan.has_symint:
            parts.append("\n" + _filled(text, "template", plan, each, name=each.signature.template_name))
    return "".join(parts)


def include(plan: CppApiPlan, release: Release) -> str:
    """The headers of what the operator calls without the dispatcher."""
    return "\n".join(f"#include <ATen/ops/{plan.base}_{key.lower()}_dispatch.h>" for key in plan.keys)


def redispatch(plan: CppApiPlan, release: Release) -> str:
    """The functions that redispatch."""
    text = _TEXT.of(release)
    return "".join(_filled(text, "redispatch", plan, each, keys=True) for each in plan.functions)


def method_declaration(plan: CppApiPlan, release: Release) -> str | None:
    """The declarations of the methods in the class; None without methods."""
    text = _TEXT.of(release)
    return "".join(_filled(text, "method_declaration", plan, each) for each in plan.methods) or None


def method(plan: CppApiPlan, release: Release) -> str | None:
    """The definitions of the methods; None without methods."""
    text = _TEXT.of(release)
    return (
        "".join(_filled(text, "method", plan, each, defaults=False) for each in plan.methods) if plan.methods else None
    )


def _filled(
    text: Sections,
    section: str,
    plan: CppApiPlan,
    wrapper: Wrapper,
    *,
    name: str = "",
    keys: bool = False,
    defaults: bool = True,
) -> str:
    signature = wrapper.signature
    parameters, arguments = signature.declared(defaults=defaults), wrapper.arguments
    if keys:
        parameters = [f"c10::DispatchKeySet {_KEYS}", *parameters]
        arguments = f"{_KEYS}, {arguments}" if arguments else _KEYS
    return text[section].fill(
        {
            "schema": plan.schema,
            "returns": signature.returns,
            "name": name or signature.name,
            "parameters": parameters,
            "struct": plan.struct,
            "arguments": arguments,
            "integer": "c10::SymInt" if signature.symint else "int64_t",
        }
    )
