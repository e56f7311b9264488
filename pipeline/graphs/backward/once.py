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
from pipeline.graphs.model import Bool, Custom, Float, Int
from pipeline.graphs.operator import Operator
from pipeline.graphs.plan import CondPlan

CUT = ("detach",)  # operators whose results have no history in any mode
DRAWN = ("p", "dropout", "dropout_p")  # arguments that are 0 if an operator draws no random numbers after all
TRAINED = ("train", "training")  # and those that are False then

_LIBRARY = "has a gradient that only the library's own Node computes"
_CUSTOM = "is a custom operator, which may return other values if it is called again"


def why_not_differentiable_twice(
    program: Functional,
    blocks: Sequence[Block],
    operators: Mapping[str, Operator],
    callees: Mapping[str, CondPlan | Custom],
) -> str:
    """Why the backward of a graph cannot be differentiated again, "" if it can. Names the line that prevents it."""
    changed = [*program.written, *program.bumped, *(name for name, _ in program.metadata)]
    if changed:
        return f"the graph changes its input '{changed[0]}'"
    calls = [step for step in program.steps if isinstance(step, Apply)]
    of_library = {_values(b.step) for b in blocks if isinstance(b, CallBlock) and b.style == "library"}
    for step in calls:
        operator = operators[step.identity]
        reason = _reason(step, operator) or (_LIBRARY if _values(step) in of_library else "")
        if reason := reason or _reason_of_callee(callees.get(step.identity)):
            where = f"line {step.place.line} of the function" if step.place.line else step.place.node
            return f"{where}: '{operator.schema.name}' {reason}"
    return ""


def _values(step: Apply) -> tuple[str, ...]:
    """The names of the values that a call computes, which identify it: a line may have several calls."""
    return (*(result.name for result in step.results), *(clone for _, clone in step.clones))


def _reason(step: Apply, operator: Operator) -> str:
    base, tags = operator.schema.name.base, operator.called.tags
    if "nondeterministic_seeded" in tags and not draws_nothing(step):
        return "draws random numbers"
    if not step.grad and base not in CUT:
        return "is called under no_grad"
    if step.sized:
        return "writes to an out argument"
    if "generated" in tags and base not in COPIES and step.results:
        return "has no functional variant with a derivative"
    return ""


def draws_nothing(step: Apply) -> bool:
    """Whether the arguments of an operator that can draw random numbers say that it does not: dropout by 0."""
    given = step.arguments
    return any(given.get(name) in (Float(0.0), Int(0)) for name in DRAWN) or any(
        given.get(name) == Bool(False) for name in TRAINED
    )


def _reason_of_callee(callee: CondPlan | Custom | None) -> str:
    if isinstance(callee, Custom):
        return _CUSTOM
    reason = "" if callee is None else callee.then.once or callee.otherwise.once
    return f"has a branch that cannot be: {reason}" if reason else ""
