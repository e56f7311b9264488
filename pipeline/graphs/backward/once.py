"""Whether the backward of a graph can be differentiated again.

Differentiating a backward needs the values of the forward with their histories. The Node computes them again from
the inputs, with autograd enabled. So the forward must give equal values again, and all gradients must be computed by
operators that autograd records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.graphs.backward.histories import COPIES
from pipeline.graphs.backward.program import Block, CallBlock
from pipeline.graphs.functional.program import Apply, Functional
from pipeline.graphs.operator import Operator

CUT = ("detach",)  # operators whose results have no history in any mode


_REASONS = {
    "library": "has a gradient that only the library's own Node computes",
    "recorded": "is a composite, which autograd records",
}


def why_once(program: Functional, blocks: Sequence[Block], operators: Mapping[str, Operator]) -> str:
    """Why the backward of a graph cannot be differentiated again, "" if it can. Names the line that prevents it."""
    changed = [*program.written, *program.bumped, *(name for name, _ in program.metadata)]
    if changed:
        return f"the graph changes its input '{changed[0]}'"
    calls = [step for step in program.steps if isinstance(step, Apply)]
    undifferentiable = {
        block.step.place: _REASONS[block.style]
        for block in blocks
        if isinstance(block, CallBlock) and block.style in _REASONS
    }
    for step in calls:
        operator = operators[step.identity]
        if reason := _reason(step, operator) or undifferentiable.get(step.place, ""):
            where = f"line {step.place.line} of the function" if step.place.line else step.place.node
            return f"{where}: '{operator.schema.name}' {reason}"
    return ""


def _reason(step: Apply, operator: Operator) -> str:
    base, tags = operator.schema.name.base, operator.called.tags
    if "nondeterministic_seeded" in tags:
        return "draws random numbers"
    if not step.grad and base not in CUT:
        return "is called under no_grad"
    if step.sized:
        return "writes to an out argument"
    if "generated" in tags and base not in COPIES and step.results:
        return "has no functional variant with a derivative"
    return ""
