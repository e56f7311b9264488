"""Which inputs each value depends on differentiably, by the operators' derivatives.

A value needs a gradient if one of these does. A tensor of whole numbers or of bool needs none. If the dtype of a result
is known at run time only, or whether it is a view or a copy, the result has a gate.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradmill.cpp.bindings import return_names
from gradmill.extensions.graphs.model import Constant, Item, Many, Ref, Result, Value
from gradmill.extensions.graphs.operator import Operator, shares, tensor_arguments, viewed_argument
from gradmill.extensions.graphs.passes.functionalize.program import Apply, Choose, Functional, Scatter, Step
from gradmill.extensions.graphs.passes.gradients import Style
from gradmill.extensions.graphs.passes.needs import NONE, Chosen, Needs, Rows
from gradmill.extensions.graphs.traits import CASTS, COMPOSITES, COPIES, TYPED_BY_ANOTHER

_WITH_GRADIENTS = ("float", "bfloat", "complex")  # isDifferentiableType: the beginnings of these dtypes' names


class Histories:
    """The set of inputs that each value depends on, and the slot of each value's gradient."""

    def __init__(self, program: Functional, operators: Mapping[str, Operator], inputs: Mapping[str, int]) -> None:
        self.rows = Rows(len(inputs))
        self._needs: dict[str, Needs] = {name: 1 << place for name, place in inputs.items()}
        self._same: dict[str, Value] = {}  # slots of values that no_grad code wrote
        self._whole: set[str] = set()  # values that are known to be whole numbers or bool
        for step in program.steps:
            self._follow(step, operators)

    def needs(self, value: Value | None) -> Needs:
        """The inputs that a value depends on."""
        if isinstance(value, Many):
            return self.rows.either(*map(self.needs, value.values))
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
            if self._is_whole(step.base):
                self._whole.add(step.result)
            elif step.grad:
                base = self.needs(step.base)
                self._choose(step, self.rows.either(base, self.needs(step.value)), base if step.flags else None)
            else:
                self._same[step.result] = self.slot(step.base)
        elif isinstance(step, Choose):
            self._choose(step, self.needs(step.then), self.needs(step.otherwise))
        elif isinstance(step, Apply):
            self._call(step, operators[step.identity])

    def _choose(self, step: Scatter | Choose, then: Needs, otherwise: Needs | None) -> None:
        """Notes the needs of a result: `then` if the flags of the step are true, else `otherwise`."""
        if otherwise is None or then == otherwise:
            self._needs[step.result] = then
        else:
            chosen = Chosen(step.flags, self.rows.any_of(then), self.rows.any_of(otherwise))
            self._needs[step.result] = self.rows.gate(step.result, self.rows.either(then, otherwise), chosen)

    def _is_whole(self, value: Value | None) -> bool:
        return isinstance(value, (Ref, Item)) and value.name in self._whole

    def _dtype(self, step: Apply, operator: Operator, result: Result) -> str | None:
        """The dtype of a result, "" if it follows from those of the operator's tensors; None if any is possible."""
        given = [step.arguments.get(a.name) for a in operator.schema.arguments if a.type.startswith("ScalarType")]
        known = [each.name for each in given if isinstance(each, Constant)]
        if result.dtype or known:
            return result.dtype or known[0]
        if self._is_whole(_typed_by(step, operator)):
            return "int64"
        unknown = style_of(operator) == "recorded" or operator.name in TYPED_BY_ANOTHER
        return None if unknown or any(isinstance(each, Ref) for each in given) else ""

    def _of_result(self, step: Apply, operator: Operator, result: Result, needs: Needs) -> Needs:
        """The needs of a result; `needs` are those of the operator's arguments."""
        dtype = self._dtype(step, operator, result)
        if dtype:
            return needs if dtype.startswith(_WITH_GRADIENTS) else NONE
        if not needs or dtype is not None:
            return needs
        return self.rows.gate(result.name, needs)

    def _call(self, step: Apply, operator: Operator) -> None:
        for result in step.results:
            if not (self._dtype(step, operator, result) or "float").startswith(_WITH_GRADIENTS):
                self._whole.add(result.name)
        if not records(step, operator):
            if step.written is not None:
                self._same[step.results[0].name] = self.slot(step.written)
            for name, clone in step.clones:
                self._same[clone] = self.slot(step.arguments[name])
            return
        names = with_overwritten(operator)
        needs = self.rows.either(*(self.needs(step.arguments.get(name)) for name in names))
        for i in histories_of(operator, step):
            self._needs[step.results[i].name] = self._of_result(step, operator, step.results[i], needs)
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


def _typed_by(step: Apply, operator: Operator) -> Value | None:
    """The value whose dtype the result has in any case: what is written to, or viewed."""
    if step.written is not None:
        return step.written
    name = "self" if operator.name in COPIES else viewed_argument(operator.function) if step.view else None
    return step.arguments.get(name or "")


def style_of(operator: Operator) -> Style:
    """How the gradients of an operator are computed."""
    if operator.reverse is not None:
        return "library" if operator.hidden else "own"
    if operator.name in COPIES:
        return "cast"
    if not operator.composite:
        return "missing"
    if operator.name in COMPOSITES and operator.called.func.out == ():
        return "composite"
    if operator.name in CASTS:
        return "cast"
    return "view" if viewed_argument(operator.function) is not None else "recorded"


def differentiable(operator: Operator) -> list[str]:
    """The arguments that gradients flow to; for an operator without derivatives all tensors."""
    if operator.name in COPIES:
        return [COPIES[operator.name]]
    if operator.composite and (row := shares(operator.function)) is not None and not row.untracked:
        return [row.argument]  # the others only contribute sizes and dtypes
    if operator.reverse is not None:
        return [argument.name for argument in operator.reverse.args_with_derivatives]
    return tensor_arguments(operator.schema)


def with_overwritten(operator: Operator) -> list[str]:
    """The same, and at the end what a copy overwrites: as in eager, its gradient is zeros."""
    return [*differentiable(operator), *(["self"] if operator.name in COPIES else [])]


def histories_of(operator: Operator, step: Apply) -> list[int]:
    """The indices of the results with a history."""
    if step.clones and not step.results:
        return []
    if operator.composite or operator.name in COPIES:
        return [i for i, result in enumerate(step.results) if result.type.startswith("Tensor")]
    names = return_names(operator.schema)
    if step.clones:  # a written argument is not a result of the step
        names = tuple(name for name, each in zip(names, operator.schema.returns) if not each.is_write)
    return [i for i, name in enumerate(names) if name in operator.outputs and i < len(step.results)]
