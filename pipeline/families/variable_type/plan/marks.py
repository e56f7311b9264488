"""Puts marks around the forward formulas of a plan; they become `#line` directives."""

from __future__ import annotations

from msgspec.structs import replace

from pipeline.families import line_directives
from pipeline.families.variable_type.plan.forward import Refusal
from pipeline.families.variable_type.plan.kernel import FunctionPlan, Kernel


def marked(plan: FunctionPlan) -> FunctionPlan:
    """The plan with marks around its forward formulas that name their outputs."""
    return replace(plan, kernels=tuple(map(_marked_kernel, plan.kernels)))


def _marked_kernel(kernel: Kernel) -> Kernel:
    if isinstance(kernel.forward, Refusal):
        return kernel
    fields = ["result" if each.inplace else ", ".join(each.outputs) for each in kernel.forward]
    formulas = (
        replace(each, formula=line_directives.marked(each.formula, field))
        for each, field in zip(kernel.forward, fields)
    )
    return replace(kernel, forward=tuple(formulas))
