"""Generates the backward: one C++ block for each call, in reverse order."""

from __future__ import annotations

from textwrap import wrap

from pipeline.graphs.backward.again import again_of, operands
from pipeline.graphs.backward.program import Block, CallBlock, ChooseBlock, Remade, ScatterBlock
from pipeline.graphs.functional.program import Apply
from pipeline.graphs.model import Item, Ref, Value
from pipeline.graphs.plan import GraphPlan, Returned
from pipeline.graphs.text.expressions.values import call, linked, number
from pipeline.graphs.text.forward import lambda_of, result_type, without_grad
from pipeline.graphs.text.lifetimes import backward_with_drops, with_first_uses
from pipeline.graphs.text.saved import base_of, gradient, needs_text, tensor_type
from pipeline.graphs.text.styles import STYLES, SavedValues, add_to, block_needs, own, target_text


def statements(plan: GraphPlan) -> list[str]:
    """The statements of the backward."""
    declared: dict[str, list[str]] = {}
    for name, type_ in gradients(plan).items():
        declared.setdefault(type_, []).append(name)
    first = [f"{type_} {', '.join(names)};" for type_, names in declared.items()]
    return [*(line for text in first for line in wrap(text, 116, break_long_words=False)), *after_declarations(plan)]


def after_declarations(plan: GraphPlan) -> list[str]:
    """The statements of the backward without the declarations of gradients."""
    named = SavedValues(plan)
    first: list[str] = []
    for i, returned in enumerate(each for each in plan.returned if each.needs):
        first += _incoming(returned, i)
    blocks = [first, *(_block(plan, block, named) for block in plan.backward.blocks)]
    blocks = with_first_uses(blocks, {each.name: _remade(plan, each, named) for each in plan.backward.remade})
    return backward_with_drops(plan, blocks, gradients(plan))


def _remade(plan: GraphPlan, remade: Remade, named: SavedValues) -> str:
    """The statement that computes a value again: a view if what it views was saved, another if a gradient uses it."""
    step = remade.step
    type_ = result_type(step.results[0].type)
    if step.view:
        viewed = named.value(step.arguments[plan.viewed[step.identity]])
        text = f"{viewed}.defined() ? {_again(plan, step, named)} : {type_}()"
    elif remade.needs:
        text = f"{needs_text(remade.needs)} ? {_again(plan, step, named)} : {type_}()"
    else:
        text = _again(plan, step, named)
    return f"{type_} {remade.name} = {text};"


def _again(plan: GraphPlan, step: Apply, named: SavedValues) -> str:
    """The expression for the first result of a call, computed again."""
    name = plan.original[step.identity].operator
    again = again_of(step, name)
    if again is not None:
        passed = ", ".join(number(named.own(value), named) for value in operands(step, name))
        return f"graph::{again.function}({passed})"
    arguments = {name: named.own(value) for name, value in step.arguments.items()}
    text = call(plan.called[step.identity], arguments, named)
    text = f"std::get<0>({text})" if len(step.results) > 1 else text
    if plan.once == "" and not step.grad:
        text = without_grad(text)
    return text if step.written is None else f"graph::written({named.value(step.written)}, {text})"


def _incoming(returned: Returned, i: int) -> list[str]:
    slot = Ref(returned.slot)
    if isinstance(returned.value, Item):
        name = f"length_{returned.value.name}"
        return [f"graph::incoming({gradient(returned.value)}, saved.{name}, {returned.value.index}, grads[{i}]);"]
    return [f"graph::incoming({gradient(slot)}, grads[{i}]);"]


def gradients(plan: GraphPlan) -> dict[str, str]:
    """The C++ types of all gradients, which are undefined at first."""
    types: dict[str, str] = {}

    def declare(value: Value, *, listed: bool = False) -> None:
        if isinstance(value, (Ref, Item)):
            types.setdefault(gradient(value), tensor_type(listed=listed or isinstance(value, Item)))

    for place in plan.tensors:
        declare(Ref(place.name), listed=place.type.endswith("]"))
    for returned in plan.returned:
        if returned.needs:
            declare(returned.value if isinstance(returned.value, Item) else Ref(returned.slot))
    for block in plan.backward.blocks:
        if isinstance(block, CallBlock):
            for value, listed in block.grads:
                declare(value, listed=listed)
            for argument, target in ((a, t) for a in block.arguments for t in a.targets if t.needs):
                declare(target.value, listed=argument.whole)
        else:
            targets = (block.base, block.value) if isinstance(block, ScatterBlock) else (block.then, block.otherwise)
            for each in (Ref(block.step.result), *(target.value for target in targets)):
                declare(each)
    return types


def _block(plan: GraphPlan, block: Block, named: SavedValues) -> list[str]:
    if isinstance(block, ScatterBlock):
        return _scatter(plan, block, named)
    if isinstance(block, ChooseBlock):
        grad, flags = gradient(Ref(block.step.result)), " && ".join(map(named, block.step.flags))
        then, otherwise = (["  " + line for line in add_to(each, grad)] for each in (block.then, block.otherwise))
        return [f"if ({flags}) {{", *then, "} else {", *otherwise, "}"]
    grads = "graph::joined({" + ", ".join(gradient(value) for value, _ in block.grads) + "})"
    needs = needs_text(block_needs(block))
    where = block.step.place.shown
    sized = [f"{gradient(v)}.resize(saved.length_{base_of(v)});" for v, listed in block.grads if listed]
    if block.style == "own":
        first, *more = own(plan, block, named)
        return [*sized, f"{first} // {where}", *more]
    body = STYLES[block.style](plan, block, named)
    lines = [*sized, f"if (variable_list given = {grads}; graph::any_defined(given) && ({needs})) {{ // {where}"]
    return [*lines, *(f"  {line}" for line in body), "}"]


def _scatter(plan: GraphPlan, block: ScatterBlock, named: SavedValues) -> list[str]:
    grad, where = gradient(Ref(block.step.result)), f"// written into a view, line {block.step.place.line}"
    view = lambda_of(linked("base", block.step.chain, plan.called, named))
    targets = f"{target_text(block.value)}, {target_text(block.base)}"
    call_ = f"graph::unscatter({grad}, saved.{block.layout}, {view}, {targets});"
    if not block.step.flags:
        return [f"{call_} {where}"]
    flags = " && ".join(map(named, block.step.flags))
    otherwise = add_to(block.base, grad)
    return [f"if ({flags}) {{ {where}", f"  {call_}", "} else {", *(f"  {line}" for line in otherwise), "}"]
