"""Puts marks around the formulas of a plan; they become `#line` directives."""

from __future__ import annotations

from msgspec.structs import replace

from pipeline.families import line_directives
from pipeline.families.nodes.plan import NodePlan


def marked(plan: NodePlan) -> NodePlan:
    """The plan with marks around its formulas that name their inputs."""
    gradients = (
        replace(each, formula=line_directives.marked(each.formula, ", ".join(input_.name for input_ in each.inputs)))
        for each in plan.gradients
    )
    return replace(plan, gradients=tuple(gradients))
