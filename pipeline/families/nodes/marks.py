"""A plan with marks around its formulas, which become `#line` directives."""

from __future__ import annotations

from msgspec.structs import replace

from pipeline.families import line_directives
from pipeline.families.nodes.plan import NodePlan


def marked(plan: NodePlan) -> NodePlan:
    """The plan, whose formulas say for which inputs they are."""
    gradients = (
        replace(each, formula=line_directives.marked(each.formula, ", ".join(given.name for given in each.inputs)))
        for each in plan.gradients
    )
    return replace(plan, gradients=tuple(gradients))
