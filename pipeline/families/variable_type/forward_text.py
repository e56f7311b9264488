"""Renders forward mode in a kernel."""

from __future__ import annotations

from msgspec.structs import asdict

from pipeline.families.sections import Sections, Text
from pipeline.families.variable_type.plan.forward import Formula, Operand, Refusal
from pipeline.releases.model import Release

_TEXT = Text("variable_type/forward.cpp")


def forward(plan: tuple[Formula, ...] | Refusal, release: Release) -> list[str]:
    """The code that computes all tangents of outputs and then sets them; or the refusal."""
    text = _TEXT.of(release)
    if isinstance(plan, Refusal):
        return [_refusal(plan, text)]
    setters = [setter for formula in plan for setter in _setters(formula, text)]
    return [*(_formula(formula, text) for formula in plan), "\n".join(setters)]


def _refusal(plan: Refusal, text: Sections) -> str:
    why = text["why_out" if plan.is_out else "why_missing"].fill({}).rstrip("\n")
    return text["refusal"].fill({**asdict(plan), "why": why})


def _formula(plan: Formula, text: Sections) -> str:
    operands = [_operand(operand, text) for operand in plan.operands]
    if plan.clones_tangent:
        operands.append(text["cloned_tangent"].fill({}))
    return text["formula_by_member" if plan.by_member else "formula"].fill(
        {**asdict(plan), "outputs": "_".join(plan.outputs), "operands": operands}
    )


def _operand(operand: Operand, text: Sections) -> str:
    values = asdict(operand)
    lines = text["tangent"].fill(values) if operand.zeros else ""
    if operand.wraps:
        lines += text["wrapped_number"].fill(values)
    return lines + text["primal"].fill(values) if operand.primal else lines


def _setters(plan: Formula, text: Sections) -> list[str]:
    if plan.several:
        return [
            text["set_one_of"].fill({"outputs": "_".join(plan.outputs), "output": output, "index": i})
            for i, output in enumerate(plan.outputs)
        ]
    section = "set_list" if plan.is_list else "set_by_member" if plan.by_member else "set"
    return [text[section].fill({"output": plan.outputs[0], "inplace": "true" if plan.inplace else "false"})]
