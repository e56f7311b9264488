"""Renders one tracing kernel: the `#include` of its operator's header, the kernel, its registration."""

from __future__ import annotations

from gradmill.families.sections import Sections, Text
from gradmill.families.trace_type.plan import Recording, TracePlan
from gradmill.releases.model import Release

_TEXT = Text("trace_type/trace_type.cpp")
_AFTER = "ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer)"
_BEFORE, _THEN = "tracer_state->force_outplace", "force_outplace"  # whether all operators must be out-of-place


def include(plan: TracePlan, release: Release) -> str:
    """The `#include` of the operator's header."""
    return _TEXT.of(release)["include"].fill({"header": plan.signature.header})


def registration(plan: TracePlan, release: Release) -> str:
    """The registration of the kernel."""
    signature = plan.signature
    return _TEXT.of(release)["registration"].fill({"operator": signature.operator, "kernel": signature.kernel})


def definition(plan: TracePlan, release: Release) -> str:
    """The kernel."""
    text, signature = _TEXT.of(release), plan.signature
    call = {"results": plan.results, "struct": signature.struct, "arguments": signature.passed(_AFTER)}
    return text["definition"].fill(
        {
            "returns": signature.returns,
            "kernel": signature.kernel,
            "parameters": signature.declared,
            "body": [
                _record(plan.recording, text) if plan.recording is not None else "",
                text["call"].fill(call),
                _recorded(plan.recording, text) if plan.recording is not None else "",
                f"return {plan.returned};" if plan.returned else "",
            ],
        }
    )


def _record(plan: Recording, text: Sections) -> str:
    """The part before the call."""
    names = [text["op_name"].fill({"name": name}) for name in plan.names]
    guard = plan.guard
    return text["record"].fill(
        {
            "op_name": names if len(names) == 1 else ["\n", _choice(text, _BEFORE, *names)],
            "inputs": _inputs(plan, text),
            "ensure_unique": ""
            if guard is None
            else text["ensure_unique"].fill({"name": guard.name, "argument": guard.argument}),
        }
    )


def _recorded(plan: Recording, text: Sections) -> str:
    """The part after the call."""
    outputs = ["".join(text["output"].fill({"name": name}) for name in names) for names in plan.outputs]
    return text["recorded"].fill({"outputs": outputs if len(outputs) == 1 else ["\n", _choice(text, _THEN, *outputs)]})


def _inputs(plan: Recording, text: Sections) -> list[str]:
    inputs = [text["input"].fill({"name": name}) for name in plan.inputs]
    if plan.outs:
        options = text["options_of_out"].fill({}) if plan.options_of_out else ""
        outs = "".join(text["input"].fill({"name": name}) for name in plan.outs)
        inputs += ["\n", _choice(text, _BEFORE, options, outs)]
    if plan.like_arguments:
        more = _choice(text, _BEFORE, text["like_arguments"].fill({}), "")
        inputs += ["\n", more] if plan.outs else [more]
    return inputs


def _choice(text: Sections, condition: str, out_of_place: str, in_place: str) -> str:
    return text["choice"].fill({"condition": condition, "out_of_place": out_of_place, "in_place": in_place})
