"""Plans the backward of a functional graph: the calls in reverse whose gradients reach an input."""

from __future__ import annotations

from collections.abc import Mapping

from gradmill.cpp import identifiers
from gradmill.cpp.bindings import return_names
from gradmill.extensions.graphs.model import Item, Many, Nothing, Ref, Value
from gradmill.extensions.graphs.operator import Operator, viewed_argument
from gradmill.extensions.graphs.passes.differentiate.histories import (
    Histories,
    histories_of,
    records,
    style_of,
    with_overwritten,
)
from gradmill.extensions.graphs.passes.functionalize.program import Apply, Choose, Functional, Scatter
from gradmill.extensions.graphs.passes.gradients import (
    Argument,
    Attribute,
    Backward,
    Block,
    CallBlock,
    ChooseBlock,
    GradientTarget,
    Metadata,
    Remade,
    ScatterBlock,
    Tensor,
)
from gradmill.extensions.graphs.passes.keep.aliases import Aliases, compacted
from gradmill.extensions.graphs.passes.keep.budget import recomputed
from gradmill.extensions.graphs.passes.keep.saved import Saved, Uses, in_like, saved
from gradmill.extensions.graphs.passes.needs import NONE
from gradmill.extensions.graphs.traits import COMPOSITES
from gradmill.model.autograd import Reverse, SavedAttribute
from gradmill.model.schema import is_list


class _Planner:
    """Visits the steps in reverse order."""

    def __init__(
        self, program: Functional, operators: Mapping[str, Operator], histories: Histories, aliases: Aliases
    ) -> None:
        self.program, self.operators, self.histories, self.aliases = program, operators, histories, aliases
        self.uses, self.any_of, self.either = Uses(histories.rows), histories.rows.any_of, histories.rows.either
        self.reached: set[str] = set()
        self.blocks: list[Block] = []

    def _reach(self, value: Value) -> None:
        slot = self.histories.slot(value)
        if isinstance(slot, (Ref, Item)) and self.histories.needs(slot):
            self.reached.add(slot.name)

    def run(self, outputs: list[Value]) -> None:
        """Adds the blocks of all steps that gradients reach; incoming ones reach the outputs."""
        for value in outputs:
            self._reach(value)
        for index in reversed(range(len(self.program.steps))):
            step = self.program.steps[index]
            if isinstance(step, Scatter) and step.grad and step.result in self.reached:
                self._scatter(step)
            elif isinstance(step, Choose) and step.result in self.reached:
                self.uses.add(Many(step.flags), NONE)
                self.blocks.append(ChooseBlock(step, self._target(step.then), self._target(step.otherwise)))
            elif isinstance(step, Apply) and records(step, self.operators[step.identity]):
                self._call(index, step)

    def _scatter(self, step: Scatter) -> None:
        base, value = self._target(step.base), self._target(step.value)
        self.uses.add(Many(step.flags), NONE)
        layout = self.uses.keep_metadata("layout", step.base, self.histories.needs(Ref(step.result)))
        for link in step.chain:
            for operand in link.arguments.values():
                self.uses.add(operand, self.histories.needs(Ref(step.result)))
        self.blocks.append(ScatterBlock(step, base, value, layout))

    def _target(self, value: Value) -> GradientTarget:
        slot = self.histories.slot(value)
        needs = self.histories.needs(slot)
        if not needs:
            return GradientTarget(slot, (), "")
        self._reach(slot)
        return GradientTarget(slot, self.any_of(needs), self.uses.keep_metadata("like", slot, needs))

    def _call(self, index: int, step: Apply) -> None:
        operator = self.operators[step.identity]
        results = self._results(step, operator)
        needs = self.either(*(self.histories.needs(value) for value, _ in results))
        if not needs or not any(self._is_reached(value) for value, _ in results):
            return
        for value, listed in results:
            if listed:
                self.uses.keep_metadata("length", value, needs)
        style = style_of(operator)
        names = with_overwritten(operator)
        part = part_of(operator.reverse) if operator.reverse is not None and style == "own" else ""
        if part and not self._is_reached(step.arguments[names[0]], whole=True):
            part = ""
        arguments = tuple(a for name in names if (a := self._argument(name, step, operator)) is not None)
        attributes: tuple[SavedAttribute, ...] = ()
        record, overwritten, viewed = "", tuple[Value, ...](), dict[str, tuple[Value, ...]]()
        if style in ("own", "library"):
            assert operator.reverse is not None
            attributes = self._attributes(index, step, operator, operator.reverse)
        elif style == "composite":
            for name, users in COMPOSITES[operator.name].saved:
                value = step.arguments[name]
                self.uses.add(value, self.either(*(self.histories.needs(step.arguments.get(user)) for user in users)))
        elif style == "recorded":
            record = self.uses.keep_metadata("record", Ref(step.values[0]), needs)
            overwritten, viewed = self.aliases.overwritten(step), self.aliases.viewed(step)
        elif style == "view":
            for name, value in step.arguments.items():
                if name != viewed_argument(operator.function):
                    self.uses.add(value, needs)
        node = operator.reverse.node if operator.reverse is not None else ""
        hidden = operator.hidden if style == "library" else ()
        self.blocks.append(
            CallBlock(
                step, style, node, tuple(results), arguments, attributes, record, overwritten, viewed, hidden, part
            )
        )

    def _is_reached(self, value: Value, *, whole: bool = False) -> bool:
        """Whether an earlier block, or an incoming gradient, may have given a tensor a gradient. `whole`: and not to an
        item of a list."""
        slot = self.histories.slot(value)
        return isinstance(slot, Ref if whole else (Ref, Item)) and slot.name in self.reached

    def _results(self, step: Apply, operator: Operator) -> list[tuple[Value, bool]]:
        if not step.results:
            return [(Ref(clone), False) for _, clone in step.clones]
        return [(Ref(step.results[i].name), step.results[i].type.endswith("]")) for i in histories_of(operator, step)]

    def _argument(self, name: str, step: Apply, operator: Operator) -> Argument | None:
        value = step.arguments[name]
        declared = next(a for a in operator.schema.arguments if a.name == name)
        listed = is_list(declared.type)
        if isinstance(value, Nothing):
            return Argument(name, (GradientTarget(value, (), ""),))
        if listed and not isinstance(value, Many):
            needs = self.histories.needs(value)
            like = self.uses.keep_metadata("likes", value, needs) if needs else ""
            self._reach(value)
            return Argument(name, (GradientTarget(value, self.any_of(needs), like),), True, True, self.any_of(needs))
        targets = tuple(self._target(v) for v in (value.values if isinstance(value, Many) else (value,)))
        for target in targets:
            if isinstance(target.value, Item) and target.needs:
                self.uses.keep_metadata("length", Ref(target.value.name), self.histories.needs(target.value))
        needs = self.either(*(self.histories.needs(target.value) for target in targets))
        return Argument(name, targets, listed, needs=self.any_of(needs))

    def _attributes(self, index: int, step: Apply, operator: Operator, reverse: Reverse) -> tuple[SavedAttribute, ...]:
        results = step.named(return_names(operator.called.func))
        attributes = (*reverse.all_saved_inputs, *reverse.all_saved_outputs)
        for attribute in attributes:
            using = [names for formula, names in reverse.formulas if identifiers.uses(formula, attribute.name)]
            needs = self.either(*(self.histories.needs(step.arguments.get(n)) for names in using for n in names))
            value = results.get(attribute.expr, step.arguments.get(attribute.expr))
            if value is not None and "TypeAndSize" not in attribute.type:
                self.uses.add(value, needs)
            elif needs and in_like(attribute.expr, step.arguments, self.uses.metadata) is not None:  # saved anyway
                self.uses.keep_metadata("like", step.arguments[attribute.expr.partition(".")[0]], needs)
            elif needs:
                self.uses.attributes[attribute_name(step, attribute)] = (attribute, index, needs)
        return attributes


def attribute_name(step: Apply, attribute: SavedAttribute) -> str:
    """The name that an attribute of a call is saved under."""
    return f"{step.values[0]}_{attribute.name}"


def plan_backward(
    program: Functional,
    operators: Mapping[str, Operator],
    histories: Histories,
    aliases: Aliases,
    outputs: list[Value],
    lists: list[str],
    memory: float = 1.0,
) -> Backward:
    """The backward of a program; `outputs` are the values with incoming gradients, `lists` the inputs that are lists.
    `memory`: the fraction of what is used that may be held, if what is not can be computed again."""
    planner, rows = _Planner(program, operators, histories, aliases), histories.rows
    for name in lists:
        planner.uses.keep_metadata("length", Ref(name), histories.needs(Ref(name)))
    planner.run(outputs)
    uses = planner.uses
    held = saved(uses.values.values(), aliases, rows)
    if memory < 1:
        held = recomputed(held, program, operators, planner.blocks, aliases, rows, memory)
    tensors = [
        Tensor(value, name, aliases.holding(value), rows.any_of(needs), aliases.apart(value))
        for name, (value, needs) in held.values.items()
    ]
    return Backward(
        tuple(planner.blocks),
        compacted(program, planner.blocks, tensors),
        _remade(program, held, histories),
        tuple(Attribute(name, each, step, rows.any_of(n)) for name, (each, step, n) in uses.attributes.items()),
        tuple(Metadata(name, kind, value, rows.any_of(n)) for name, (kind, value, n) in uses.metadata.items()),
        {name: aliases.numbers[name] for name in held.numbers},
    )


def _remade(program: Functional, held: Saved, histories: Histories) -> tuple[Remade, ...]:
    """The values that the backward recomputes, in the order of the forward."""
    computed = (step.results[0].name for step in program.steps if isinstance(step, Apply) and step.results)
    found = (held.remade[name] for name in computed if name in held.remade)
    return tuple(Remade(step, histories.rows.any_of(needs)) for step, needs in found)


# By the formula of a gradient, as in derivatives.yaml: the same view of another tensor.
_PARTS = {
    "select_backward_symint(grad, self_sym_sizes, dim, index)": "at::select_symint(base, {dim}, {index})",
    "slice_backward_wrapper(grad, self_sym_sizes, dim, start, end, step)": (
        "at::slice_symint(base, {dim}, {start}, {end}, {step})"
    ),
    "diagonal_backward_symint(grad, self_sym_sizes, offset, dim1, dim2)": (
        "at::diagonal(base, {offset}, {dim1}, {dim2})"
    ),
}


def part_of(reverse: Reverse) -> str:
    """The C++ expression for the part of `base` that the view is of, with {attributes}; "" if it is not of a part."""
    return _PARTS.get(reverse.formulas[0][0].removeprefix("at::"), "") if len(reverse.formulas) == 1 else ""
