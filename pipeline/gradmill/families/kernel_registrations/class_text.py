"""Renders the class of a structured kernel, and what its wrapper does with an object of it."""

from __future__ import annotations

from gradmill.families.kernel_registrations.classes import StructuredKernel
from gradmill.families.sections import Sections, Text
from gradmill.releases.model import Release

_TEXT = Text("kernel_registrations/classes.cpp")
_OWNED, _REFERENCE = "Tensor", "std::reference_wrapper<Tensor>"
_OUTPUT = "outputs_[output_idx]"
_PROXY = "proxy_outputs_[output_idx].has_value() ? *proxy_outputs_[output_idx] : outputs_[output_idx].get()"


def class_of(plan: StructuredKernel, release: Release) -> str:
    """The class."""
    text, owns = _TEXT.of(release), plan.kind == "functional"
    fields = [] if owns else [f"std::array<::std::optional<Tensor>, {plan.returns}> proxy_outputs_;"]
    return text["class"].fill(
        {
            "name": plan.name,
            "base": plan.base,
            "constructor": _constructor(plan),
            "strided": _set_output(plan, text, proxy=not owns),
            "raw_strided": _set_output(plan, text, proxy=False),
            "base_call": text["base_call"].fill({"base": plan.base}) if plan.calls_base else "",
            "output": _OUTPUT if owns else _PROXY,
            "output_type": _OWNED if owns else _REFERENCE,
            "returns": plan.returns,
            "fields": [*fields, f"{plan.guard} guard_;"] if plan.guard else fields,
        }
    )


def _constructor(plan: StructuredKernel) -> str:
    if plan.kind == "functional":
        return ""
    if plan.kind == "inplace":
        return f"{plan.name}(Tensor& self) : outputs_{{std::ref(self)}} {{}}"
    outs = ", ".join(f"Tensor& out{i}" for i in range(plan.returns))
    references = ", ".join(f"std::ref(out{i})" for i in range(plan.returns))
    return f"{plan.name}({outs}) : outputs_{{ {references} }} {{}}"


def _set_output(plan: StructuredKernel, text: Sections, *, proxy: bool) -> list[str]:
    sections = ["set_guard"] if plan.guard and plan.sets_guard else []
    return [text[name].fill({}) for name in (*sections, plan.kind, *(["proxy"] if proxy else []))]


def body_of(plan: StructuredKernel, release: Release) -> list[str]:
    """The statements of the wrapper, after the check of devices."""
    text = _TEXT.of(release)
    owns, outs = plan.kind == "functional", ", ".join(plan.outs)
    arguments = {"functional": "", "inplace": "(self)", "out": f"({outs})"}[plan.kind]
    precomputed = "auto precompute = " if plan.precomputes else ""
    return [
        f"{plan.name} op{arguments};",
        f"{precomputed}op.meta({plan.meta});",
        *(["(void)precompute;"] if plan.precomputes else []),
        *([_call(plan, text)] if plan.call else []),
        *([] if owns else [text["proxied"].fill({"i": i}) for i in range(plan.returns)]),
        f"return {_result(plan)};",
    ]


def _call(plan: StructuredKernel, text: Sections) -> str:
    """The call of the implementation; that of a kernel that is compiled ahead of time comes first."""
    call, ahead = f"{plan.call}({plan.arguments});", plan.compiled_ahead
    if ahead is None:
        return call
    section = "implemented_ahead" if ahead.unconditional else "tried_ahead"
    return text[section].fill({"name": ahead.name, "key": ahead.key, "arguments": plan.arguments, "call": call})


def _result(plan: StructuredKernel) -> str:
    if plan.kind == "inplace":
        return "self"
    if plan.kind == "out":
        return plan.outs[0] if plan.returns == 1 else f"std::forward_as_tuple({', '.join(plan.outs)})"
    moved = [f"std::move(op.outputs_[{i}])" for i in range(plan.returns)]
    return moved[0] if plan.returns == 1 else f"std::make_tuple({', '.join(moved)})"
