"""Which calls a backward may make again, and how: those that cost little, and give equal bits for equal arguments.

Pointwise operators are tagged so in native_functions.yaml. Operators that draw random numbers or update statistics are
computed again by others, from the numbers that were drawn. Facts: native_dropout_cpu in ATen/native/Dropout.cpp, and
batch_norm_cpu in ATen/native/Normalization.cpp of the release.
"""

from __future__ import annotations

from gradmill.extensions.graphs.functional.program import Apply
from gradmill.extensions.graphs.model import Bool, Float, Many, Ref, Value
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.traits import AGAIN, CHEAP, Again

_REFUSED = ("nondeterministic_seeded", "nondeterministic_bitwise", "data_dependent_output", "dynamic_output_shape")


def again_of(step: Apply, name: str) -> Again | None:
    """How a call of the operator `name` is computed again by another one; None if it is not."""
    again = AGAIN.get(name)
    if again is None or (again.switch and step.arguments.get(again.switch) != Bool(True)):
        return None
    return again if isinstance(step.arguments.get("p", Float(0.0)), Float) else None


def may_be_called_again(step: Apply, operator: Operator) -> bool:
    """Whether the first result of a call may be computed again."""
    if step.view or again_of(step, operator.name) is not None:
        return True
    if step.clones or step.assigns or step.autocast or step.results[0].type != "Tensor":
        return False
    tags = operator.called.tags
    return {*tags}.isdisjoint(_REFUSED) and ("pointwise" in tags or operator.name in CHEAP)


def operands(step: Apply, name: str) -> list[Value]:
    """The values, one by one, that computing a call of the operator `name` again uses."""
    again = again_of(step, name)
    if again is not None:
        given = [step.arguments[each] for each in again.arguments]
        return given if again.result is None else [given[0], Ref(step.results[again.result].name), *given[1:]]
    values = [*step.arguments.values(), *([step.written] if step.written is not None else [])]
    return [each for value in values for each in (value.values if isinstance(value, Many) else (value,))]
