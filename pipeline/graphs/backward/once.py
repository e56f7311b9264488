"""Whether the backward of a graph can be differentiated again.

Differentiating a backward needs the values of the forward with their histories. The Node computes them again from
the inputs, with autograd enabled. So the forward must give equal values again. Formulas call operators, which autograd
records, and so do the library's Nodes, which the graph fills with these values.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.graphs.backward.histories import COPIES
from pipeline.graphs.functional.program import Apply, Functional
from pipeline.graphs.model import Bool, Custom, Float, Int
from pipeline.graphs.operator import Operator
from pipeline.graphs.plan import CondPlan

CUT = ("detach",)  # operators whose results have no history in any mode
DRAWN = ("p", "dropout", "dropout_p")  # arguments that are 0 if an operator draws no random numbers after all
TRAINED = ("train", "training")  # and those that are False then

_CUSTOM = "is a custom operator, which may return other values if it is called again"


def why_not_differentiable_twice(
    program: Functional,
    operators: Mapping[str, Operator],
    callees: Mapping[str, CondPlan | Custom],
) -> str:
    """Why the backward of a graph cannot be differentiated again, "" if it can. Names the line that prevents it."""
    changed = [*program.written, *program.bumped, *(name for name, _ in program.metadata)]
    if changed:
        return f"the graph changes its input '{changed[0]}'"
    calls = [step for step in program.steps if isinstance(step, Apply)]
    for step in calls:
        operator = operators[step.identity]
        if reason := _reason(step, operator) or _reason_of_callee(callees.get(step.identity)):
            where = f"line {step.place.line} of the function" if step.place.line else step.place.node
            return f"{where}: '{operator.schema.name}' {reason}"
    return ""


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
