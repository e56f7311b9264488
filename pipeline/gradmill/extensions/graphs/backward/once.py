"""Whether the backward of a graph can be differentiated again.

Differentiating a backward needs the values of the forward with their histories: autograd records the forward, too.
Formulas call operators, which autograd records, and so do the library's Nodes, which the graph fills with these values,
and the autograd of custom operators.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradmill.extensions.graphs.backward.histories import Histories
from gradmill.extensions.graphs.functional.program import Apply, Functional
from gradmill.extensions.graphs.model import Custom, Many, Place
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.plan import CondPlan
from gradmill.extensions.graphs.traits import COPIES, unqualified


def why_not_differentiable_twice(
    program: Functional,
    operators: Mapping[str, Operator],
    callees: Mapping[str, CondPlan | Custom],
    histories: Histories,
    *,
    shared: bool = False,
) -> str:
    """Why the backward of a graph cannot be differentiated again, "" if it can. Names the line that prevents it.
    `shared`: whether a base replaces inputs that share memory. Of other inputs that the graph changes, autograd records
    copies; what is called under no_grad, or without an input, has no history, or that of what it writes to."""
    if shared and program.changed:
        return "the graph changes an input that shares memory with another"
    calls = [step for step in program.steps if isinstance(step, Apply) and step.grad]
    for step in calls:
        if not histories.needs(Many(tuple(step.arguments.values()))):
            continue
        operator = operators[step.identity]
        if reason := _reason(step, operator) or _reason_of_callee(callees.get(step.identity)):
            return f"{_where(step.place)}: '{unqualified(operator.name)}' {reason}"
    return ""


def _where(place: Place) -> str:
    if place.line:
        return f"line {place.line} of the function"
    return f"{place.source}, node '{place.node}'" if place.source else f"node '{place.node}'"


def _reason(step: Apply, operator: Operator) -> str:
    if step.sized:
        return "writes to an out argument"
    if "generated" in operator.called.tags and operator.name not in COPIES and step.results:
        return "has no functional variant with a derivative"
    return ""


def _reason_of_callee(callee: CondPlan | Custom | None) -> str:
    reason = callee.then.once or callee.otherwise.once if isinstance(callee, CondPlan) else ""
    return f"has a branch that cannot be: {reason}" if reason else ""
