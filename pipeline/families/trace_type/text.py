"""The C++ of one tracing kernel: the header of its operator, the kernel, its registration, as text."""

from __future__ import annotations

from pipeline.families.sections import Text
from pipeline.families.template import Template
from pipeline.families.trace_type.plan import Recording, TracePlan
from pipeline.releases.model import Release

Sections = dict[str, Template]

_TEXT = Text("trace_type/trace_type.cpp")
_AFTER = "ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer)"
_BEFORE, _THEN = "tracer_state->force_outplace", "force_outplace"  # whether operators are to be out-of-place


def include(plan: TracePlan, release: Release) -> str:
    """The line that includes the operator's own header."""
    return _TEXT.of(release)["include"].fill({"header": plan.signature.header})


def registration(plan: TracePlan, release: Release) -> str:
    """What registers the kernel."""
    given = plan.signature
    return _TEXT.of(release)["registration"].fill({"operator": given.operator, "kernel": given.kernel})


def definition(plan: TracePlan, release: Release) -> str:
    """The kernel."""
    text, given = _TEXT.of(release), plan.signature
    call = {"results": plan.results, "struct": given.struct, "arguments": given.passed(_AFTER)}
    return text["definition"].fill(
        {
            "returns": given.returns,
            "kernel": given.kernel,
            "parameters": given.declared,
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
    found = ["".join(text["output"].fill({"name": name}) for name in names) for names in plan.outputs]
    return text["recorded"].fill({"outputs": found if len(found) == 1 else ["\n", _choice(text, _THEN, *found)]})


def _inputs(plan: Recording, text: Sections) -> list[str]:
    found = [text["input"].fill({"name": name}) for name in plan.inputs]
    if plan.outs:
        options = text["options_of_out"].fill({}) if plan.options_of_out else ""
        outs = "".join(text["input"].fill({"name": name}) for name in plan.outs)
        found += ["\n", _choice(text, _BEFORE, options, outs)]
    if plan.like_arguments:
        more = _choice(text, _BEFORE, text["like_arguments"].fill({}), "")
        found += ["\n", more] if plan.outs else [more]
    return found


def _choice(text: Sections, condition: str, out_of_place: str, in_place: str) -> str:
    return text["choice"].fill({"condition": condition, "out_of_place": out_of_place, "in_place": in_place})
