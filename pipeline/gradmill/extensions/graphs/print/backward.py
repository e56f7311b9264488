"""Lowers the backward to statements: those of each call, in reverse order."""

from __future__ import annotations

from gradmill.extensions.graphs.ir import Code, Declare, Do, Let, Stmt, When, code, separated
from gradmill.extensions.graphs.model import Item, Ref, Value
from gradmill.extensions.graphs.passes.functionalize.program import Apply
from gradmill.extensions.graphs.passes.gradients import Block, CallBlock, ChooseBlock, Remade, ScatterBlock
from gradmill.extensions.graphs.passes.keep.budget import again_of, operands
from gradmill.extensions.graphs.passes.schedule import with_first_uses, with_frees
from gradmill.extensions.graphs.plan import GraphPlan, Returned
from gradmill.extensions.graphs.print.expressions import all_of, call, lambda_of, linked, number, tensor, without_grad
from gradmill.extensions.graphs.print.forward import result_type
from gradmill.extensions.graphs.print.saved import base_of, gradient, gradient_name, needs_text, tensor_type
from gradmill.extensions.graphs.print.styles import STYLES, SavedValues, add_to, block_needs, own, target_text


def declarations(plan: GraphPlan) -> list[Stmt]:
    """The declarations of all gradients."""
    declared: dict[str, list[str]] = {}
    for name, type_ in gradients(plan).items():
        declared.setdefault(type_, []).append(name)
    return [Declare(type_, (*names,)) for type_, names in declared.items()]


def statements(plan: GraphPlan) -> list[Stmt]:
    """The statements of the backward after the declarations of gradients.

    Gradients of inputs are the result. A block that calls a formula frees its own gradients, and so does one that
    undoes a write into a view.
    """
    named, backward = SavedValues(plan), plan.backward
    incoming: list[Stmt] = [_incoming(each, i) for i, each in enumerate(each for each in plan.returned if each.needs)]
    blocks = [incoming, *(_block(plan, block, named) for block in backward.blocks)]
    remade = {each.name: _remade(plan, each, named) for each in backward.remade}
    kept = {gradient_name(Ref(name)) for name in plan.tensors} | _freed_by_blocks(plan)
    return with_frees(with_first_uses(blocks, remade), (gradients(plan).keys() - kept) | remade.keys(), _saved(plan))


def _freed_by_blocks(plan: GraphPlan) -> set[str]:
    values: list[Value] = []
    for block in plan.backward.blocks:
        if isinstance(block, CallBlock) and block.style == "own":
            values += [value for value, _ in block.grads]
        elif isinstance(block, ScatterBlock) and not block.step.flags:
            values.append(Ref(block.step.result))
    return set(map(gradient_name, values))


def _saved(plan: GraphPlan) -> set[str]:
    """The saved values that hold memory."""
    tensors = [each.name for each in plan.backward.tensors if each.how not in ("input", "output")]
    return {
        f"saved.{name}" for name in (*tensors, *(each.name for each in plan.backward.metadata if each.kind == "record"))
    }


def _remade(plan: GraphPlan, remade: Remade, named: SavedValues) -> Stmt:
    """The statement that computes a value again: a view if what it views was saved, another if a gradient uses it."""
    step, value = remade.step, _again(plan, remade.step, named)
    type_ = result_type(step.results[0].type)
    if step.view:
        viewed = tensor(step.arguments[plan.operators[step.identity].viewed], named)
        value = code("$.defined() ? $ : $()", viewed, value, type_)
    elif remade.needs:
        value = code("$ ? $ : $()", needs_text(remade.needs), value, type_)
    return Let(type_, (remade.name,), value)


def _again(plan: GraphPlan, step: Apply, named: SavedValues) -> Code:
    """The expression for the first result of a call, computed again."""
    name = plan.operators[step.identity].original.operator
    again = again_of(step, name)
    if again is not None:
        passed = separated(number(value, named) for value in operands(step, name))
        return code("graph::$($)", again.function, passed)
    value = call(plan.operators[step.identity].called, step.arguments, named)
    value = code("std::get<0>($)", value) if len(step.results) > 1 else value
    if plan.once == "" and not step.grad:
        value = without_grad(value)
    return value if step.written is None else code("graph::written($, $)", tensor(step.written, named), value)


def _incoming(returned: Returned, i: int) -> Stmt:
    value = returned.value
    if isinstance(value, Item):
        into = code("$, saved.length_$, $", gradient(value), value.name, str(value.index))
    else:
        into = gradient(Ref(returned.slot))
    return Do(code("graph::incoming($, grads[$])", into, str(i)))


def gradients(plan: GraphPlan) -> dict[str, str]:
    """The C++ types of all gradients, which are undefined at first."""
    types: dict[str, str] = {}

    def declare(value: Value, *, listed: bool = False) -> None:
        if isinstance(value, (Ref, Item)):
            types.setdefault(gradient_name(value), tensor_type(listed=listed or isinstance(value, Item)))

    for name, type_ in plan.tensors.items():
        declare(Ref(name), listed=type_.endswith("]"))
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


def _block(plan: GraphPlan, block: Block, named: SavedValues) -> list[Stmt]:
    if isinstance(block, ScatterBlock):
        return [_scatter(plan, block, named)]
    if isinstance(block, ChooseBlock):
        grad = gradient(Ref(block.step.result))
        return [When(all_of(block.step.flags, named), add_to(block.then, grad), add_to(block.otherwise, grad))]
    where = block.step.place.shown
    sized = [
        Do(code("$.resize(saved.length_$)", gradient(value), base_of(value))) for value, listed in block.grads if listed
    ]
    if block.style == "own":
        return [*sized, *own(plan, block, named, where)]
    grads = separated(gradient(value) for value, _ in block.grads)
    condition = code(
        "variable_list given = graph::joined({$}); graph::any_defined(given) && ($)",
        grads,
        needs_text(block_needs(block)),
    )
    return [*sized, When(condition, STYLES[block.style](plan, block, named), comment=where)]


def _scatter(plan: GraphPlan, block: ScatterBlock, named: SavedValues) -> Stmt:
    grad, where = gradient(Ref(block.step.result)), f"written into a view, line {block.step.place.line}"
    view = lambda_of(linked(code("base"), block.step.chain, plan.operators, named))
    targets = code("$, $", target_text(block.value), target_text(block.base))
    call_ = code("graph::unscatter($, saved.$, $, $)", grad, block.layout, view, targets)
    if not block.step.flags:
        return Do(call_, where)
    return When(all_of(block.step.flags, named), (Do(call_),), add_to(block.base, grad), where)
