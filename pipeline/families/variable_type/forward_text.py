"""The C++ of forward mode in a kernel, as text."""

from __future__ import annotations

from pipeline.families.sections import Text
from pipeline.families.template import Template
from pipeline.families.variable_type.plan.forward import Formula, Read, Refusal
from pipeline.releases.model import Release

_TEXT = Text("variable_type/forward.cpp")


def forward(plan: tuple[Formula, ...] | Refusal, release: Release) -> list[str]:
    """The tangents of outputs, all of which are set after the last one is computed; or the refusal."""
    text = _TEXT.of(release)
    if isinstance(plan, Refusal):
        return [_refusal(plan, text)]
    setters = [setter for formula in plan for setter in _setters(formula, text)]
    return [*(_formula(formula, text) for formula in plan), "\n".join(setters)]


def _refusal(plan: Refusal, text: dict[str, Template]) -> str:
    why = text["why_out" if plan.is_out else "why_missing"].fill({}).rstrip("\n")
    return text["refusal"].fill({"condition": plan.condition, "operator": plan.operator, "why": why})


def _formula(plan: Formula, text: dict[str, Template]) -> str:
    reads = [_read(read, text) for read in plan.reads]
    if plan.clones_tangent:
        reads.append(text["cloned_tangent"].fill({}))
    return text["formula_by_member" if plan.by_member else "formula"].fill(
        {
            "type": plan.type,
            "outputs": "_".join(plan.outputs),
            "condition": plan.condition,
            "reads": reads,
            "formula": plan.formula,
        }
    )


def _read(read: Read, text: dict[str, Template]) -> str:
    values = {"name": read.name, "expr": read.expr, "zeros": read.zeros}
    found = text["tangent"].fill(values) if read.zeros else ""
    if read.wraps:
        found += text["wrapped_number"].fill(values)
    return found + text["primal"].fill(values) if read.primal else found


def _setters(plan: Formula, text: dict[str, Template]) -> list[str]:
    if plan.several:
        return [
            text["set_one_of"].fill({"outputs": "_".join(plan.outputs), "output": output, "index": i})
            for i, output in enumerate(plan.outputs)
        ]
    section = "set_list" if plan.is_list else "set_by_member" if plan.by_member else "set"
    return [text[section].fill({"output": plan.outputs[0], "inplace": "true" if plan.inplace else "false"})]
