"""Which inputs each value depends on differentiably, by the operators' derivatives.

Whether an input needs a gradient is known at run time only. So each value has the set of inputs that it depends on: it
needs a gradient if one of them does.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.cpp.bindings import return_names
from pipeline.graphs.functional.program import Apply, Choose, Functional, Scatter, Step
from pipeline.graphs.memory import shares
from pipeline.graphs.model import Item, Many, Ref, Value
from pipeline.graphs.operator import Operator, tensor_arguments

Needs = frozenset[int]  # indices of inputs
NONE: Needs = frozenset()

# Operators without a formula that copy an argument, perhaps with another shape and dtype.
COPIES = {"copy": "src"}


class Histories:
    """The set of inputs that each value depends on, and the slot of each value's gradient."""

    def __init__(self, program: Functional, operators: Mapping[str, Operator], inputs: Mapping[str, int]) -> None:
        self._needs: dict[str, Needs] = {name: frozenset([place]) for name, place in inputs.items()}
        self._same: dict[str, Value] = {}  # slots of values that no_grad code wrote
        for step in program.steps:
            self._follow(step, operators)

    def needs(self, value: Value | None) -> Needs:
        """The inputs that a value depends on."""
        if isinstance(value, Many):
            return NONE.union(*(self.needs(each) for each in value.values))
        if not isinstance(value, (Ref, Item)):
            return NONE
        slot = self.slot(value)
        assert isinstance(slot, (Ref, Item))
        return self._needs.get(slot.name, NONE)

    def slot(self, value: Value) -> Value:
        """The value that shares its gradient with `value`: itself, or the value that no_grad code overwrote."""
        return self._same.get(value.name, value) if isinstance(value, Ref) else value

    def _follow(self, step: Step, operators: Mapping[str, Operator]) -> None:
        if isinstance(step, Scatter):
            if step.grad:
                self._needs[step.result] = self.needs(step.base) | self.needs(step.value)
            else:
                self._same[step.result] = self.slot(step.base)
        elif isinstance(step, Choose):
            self._needs[step.result] = self.needs(step.then) | self.needs(step.otherwise)
        elif isinstance(step, Apply):
            self._call(step, operators[step.identity])

    def _call(self, step: Apply, operator: Operator) -> None:
        if not records(step, operator):
            if step.written is not None:
                self._same[step.results[0].name] = self.slot(step.written)
            for name, clone in step.clones:
                self._same[clone] = self.slot(step.arguments[name])
            return
        names = differentiable(operator)
        if operator.schema.name.base in COPIES:
            names = ["self", *names]  # its gradient is zeros
        needs = NONE.union(*(self.needs(step.arguments.get(name)) for name in names))
        for i in histories_of(operator, step):
            self._needs[step.results[i].name] = needs
        written = _written_with_history(operator)
        for name, clone in step.clones:
            if name in written:
                self._needs[clone] = needs
            else:
                self._same[clone] = self.slot(step.arguments[name])


def _written_with_history(operator: Operator) -> set[str]:
    """The written arguments that get the operator's history: with a formula only those that it returns, not updated
    statistics, as in VariableType."""
    written = {a.name: a.annotation for a in operator.schema.arguments if a.is_write}
    if operator.reverse is None:
        return set(written)
    returned = {r.annotation for r in operator.schema.returns if r.is_write}
    return {name for name, annotation in written.items() if annotation in returned}


def records(step: Apply, operator: Operator) -> bool:
    """Whether autograd records a call: what another call writes to keeps its history."""
    return step.grad and operator.tracked


def differentiable(operator: Operator) -> list[str]:
    """The arguments that gradients flow to; for an operator without derivatives all tensors."""
    if operator.schema.name.base in COPIES:
        return [COPIES[operator.schema.name.base]]
    if operator.composite and (row := shares(operator.schema)) is not None and not row.untracked:
        return [row.argument]  # the others only contribute sizes and dtypes
    if operator.reverse is not None:
        return [argument.name for argument in operator.reverse.args_with_derivatives]
    return tensor_arguments(operator.schema)


def histories_of(operator: Operator, step: Apply) -> list[int]:
    """The indices of the results with a history."""
    if step.clones and not step.results:
        return []
    if operator.composite or operator.schema.name.base in COPIES:
        return [i for i, result in enumerate(step.results) if result.type.startswith("Tensor")]
    names = return_names(operator.schema)
    if step.clones:  # a written argument is not a result of the step
        names = tuple(name for name, each in zip(names, operator.schema.returns) if not each.is_write)
    return [i for i, name in enumerate(names) if name in operator.outputs and i < len(step.results)]
