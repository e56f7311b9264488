"""Lowers the gradients of one call: by formulas, the library's Nodes, a recorded call, the inverse of a view."""

from __future__ import annotations

from collections.abc import Callable

from gradmill.extensions.graphs.ir import Code, Do, Free, Let, Stmt, Title, When, code, filled, separated, variable
from gradmill.extensions.graphs.model import Item, Ref
from gradmill.extensions.graphs.passes.differentiate.plan import attribute_name
from gradmill.extensions.graphs.passes.gradients import Argument, CallBlock, GradientTarget
from gradmill.extensions.graphs.passes.keep.aliases import label
from gradmill.extensions.graphs.passes.keep.saved import in_like
from gradmill.extensions.graphs.plan import CondPlan, GraphPlan
from gradmill.extensions.graphs.print.expressions import GIVEN, argument, call, lambda_of, tensor, with_given
from gradmill.extensions.graphs.print.saved import expression_over, gradient, gradient_name, needed, needs_text
from gradmill.extensions.graphs.traits import BATCH_NORMS, COMPOSITES

_NODES = "torch::autograd::generated"
_NONE = code("{}")  # an attribute of a tensor that no gradient uses


class SavedValues:
    """The expressions for saved values. A value that was not saved, as no gradient uses it, is an undefined tensor."""

    def __init__(self, plan: GraphPlan) -> None:
        self._numbers = plan.backward.numbers
        held = [*(tensor.name for tensor in plan.backward.tensors), *self._numbers]
        self._known = {name: f"saved.{name}" for name in held}  # the variable of each
        own = [*(tensor.name for tensor in plan.backward.kept), *(remade.name for remade in plan.backward.remade)]
        self._known |= dict(zip(own, own))
        self.attributes = {attribute.name for attribute in plan.backward.attributes}
        self.metadata = {metadata.name for metadata in plan.backward.metadata}

    def __call__(self, value: Ref | Item) -> Code:
        if label(value) in self._known:
            return variable(self._known[label(value)])
        if isinstance(value, Item) and value.name in self._known:
            function = "item" if value.name in self._numbers else "held"
            return code("graph::$($, $)", function, variable(self._known[value.name]), str(value.index))
        return code("at::Tensor()")


def add_to(target: GradientTarget, value: Code, block: CallBlock | None = None) -> tuple[Stmt, ...]:
    """The statements that add an expression to the gradient of a target, within a block if there is one."""
    into = gradient(target.value)
    if isinstance(target.value, Item):
        into = code("$, saved.length_$, $", into, target.value.name, str(target.value.index))
    return _if_needed(target, Do(code("graph::add($, $, saved.$)", into, value, target.like)), block)


def _if_needed(target: GradientTarget, statement: Stmt, block: CallBlock | None) -> tuple[Stmt, ...]:
    """A statement that runs if the gradient of a target is needed. A block tests that one of its gradients is."""
    if not target.needs:
        return ()
    if block is not None and frozenset(target.needs) == block_needs(block):
        return (statement,)
    return (needed(target.needs, statement),)


def block_needs(block: CallBlock) -> frozenset[int]:
    """The inputs whose gradients need those that a block computes."""
    return frozenset(place for each in block.arguments for target in each.targets for place in target.needs)


def _distributed(block: CallBlock) -> Stmt:
    """The statement that adds the computed gradients to those of the inputs."""
    return Do(code("graph::distribute(found, $)", _targets(block)))


def _targets(block: CallBlock) -> Code:
    """Where the gradients of all inputs go, in their order."""
    tested, targets = block_needs(block), []
    for argument_ in block.arguments:
        if not argument_.whole:
            targets += [target_text(each, tested) for each in argument_.targets]
        elif argument_.targets[0].needs:
            targets.append(target_text(argument_.targets[0], tested))
    while targets and targets[-1] == _NONE:
        targets.pop()
    return code("{$}", separated(targets))


def target_text(target: GradientTarget, tested: frozenset[int] = frozenset()) -> Code:
    """Where a gradient goes. `tested`: the inputs one of which is known to need a gradient."""
    if not target.needs:
        return _NONE
    passed: list[Code | str] = [gradient(target.value), f"saved.{target.like}"]
    if isinstance(target.value, Item):
        passed[1:1] = [f"saved.length_{target.value.name}", str(target.value.index)]
    if frozenset(target.needs) != tested:
        passed.insert(0, needs_text(target.needs))
    return code("{$}", separated(passed))


def _length(argument: Argument) -> str:
    if not argument.whole:
        return str(len(argument.targets))
    return f"saved.{argument.targets[0].like}.size()" if argument.needs else "0"


def _needed(argument: Argument) -> str:
    return needs_text(argument.needs or argument.targets[0].needs if argument.targets else ())


def _attributes(plan: GraphPlan, block: CallBlock, named: SavedValues) -> dict[str, Code]:
    """The expression for each of the Node's saved attributes; `{}` for one of a tensor that no gradient uses."""
    by_name = {attribute.name: attribute for attribute in block.attributes}
    expressions = {}
    for saved in plan.operators[block.step.identity].formula.saved:
        attribute = by_name[saved.name]
        name = attribute_name(block.step, attribute)
        member = in_like(attribute.expr, block.step.arguments, named.metadata)
        if saved.how.is_variable:
            type_ = saved.how.passed.removesuffix("&").strip()
            expressions[saved.name] = _variable(plan, block, attribute.expr, type_, named)
        elif name in named.attributes or member is not None:
            expressions[saved.name] = code("saved.$", name if name in named.attributes else member or "")
        elif attribute.expr not in block.step.arguments or "TypeAndSize" in saved.how.passed:
            expressions[saved.name] = _NONE
        else:
            value = expression_over(plan, block.step, attribute.expr, attribute.type, named)
            if any(type_ in saved.how.passed for type_ in _ASSIGNED):
                value = code("graph::attribute<$>($)", saved.how.passed.removesuffix("&"), value)
            expressions[saved.name] = value
    return expressions


_ASSIGNED = ("OptionalArray", "optional<std::string>")  # types whose conversion from an argument is an assignment


def _variable(plan: GraphPlan, block: CallBlock, expression: str, type_: str, named: SavedValues) -> Code:
    step = block.step
    value = (step.named(plan.operators[step.identity].results) | step.arguments).get(expression)
    if value is None:
        return _NONE
    if "List" in type_:
        return argument(value, "const c10::List<::std::optional<at::Tensor>> &", named)
    return tensor(value, named)


def formula_name(node: str) -> str:
    """The C++ name of the formula of a Node."""
    return f"formulas::{node}_apply_functional"


def own(plan: GraphPlan, block: CallBlock, named: SavedValues, where: str) -> list[Stmt]:
    """The statements of a block that calls the formula of a Node. `where`: its comment."""
    node, attributes = plan.operators[block.step.identity].formula, _attributes(plan, block, named)
    passed: list[Code | str] = [
        variable(formula_name(block.node)),
        code("{$}", separated(gradient(value) for value, _ in block.grads)),
        f"{{{', '.join(_needed(a) for a in block.arguments)}}}",
        _targets(block),
        *(_length(a) for a in block.arguments if a.listed),
        *attributes.values(),
        *(["true"] if node.retains_variables else []),
    ]
    apply = "apply_to_batch" if plan.operators[block.step.identity].called.operator in BATCH_NORMS else "apply"
    call_ = code("graph::$($)", apply, separated(passed))
    if not block.part:
        return [Do(call_, where)]
    into, grad = gradient(block.arguments[0].targets[0].value), block.grads[0][0]
    part = lambda_of(filled(block.part, attributes))
    added = code("!graph::add_to_part($, $, $)", into, gradient(grad), part)
    return [When(added, (Do(call_),), comment=where), Free((gradient_name(grad),))]


def _library(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[Stmt, ...]:
    node = plan.operators[block.step.identity].formula
    expressions = _attributes(plan, block, named)
    edges = ", ".join(f"{{{_needed(a)}, {_length(a)}}}" for a in block.arguments)
    statements: list[Stmt] = [
        Title(f"libtorch's {block.node}: it keeps {', '.join(block.hidden)} to itself"),
        Let("auto", ("node",), code("graph::new_node<$::$>()", _NODES, block.node)),
        Do(code("node->set_next_edges(graph::edges({$}, needed))", edges)),
        *(Do(code("node->$_size_ = $", a.name, _length(a))) for a in block.arguments if a.listed),
    ]
    for saved in node.saved:
        value = expressions[saved.name]
        if saved.how.is_variable:
            is_list = "vector" in saved.how.passed or "List" in saved.how.passed
            form = "torch::autograd::make_saved_variable_list($, false)" if is_list else "SavedVariable($, false)"
            value = code(form, "at::Tensor()" if value == _NONE and not is_list else value)
        statements.append(Do(code("node->$ = $", saved.member, value)))
    found = Let("const variable_list", ("found",), code("node->apply(std::move(given))"))
    return (*statements, found, _distributed(block))


def _composite(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[Stmt, ...]:
    composite = COMPOSITES[plan.operators[block.step.identity].called.operator]
    by_name = {argument.name: argument for argument in block.arguments}
    saved = [tensor(block.step.arguments[name], named) for name, _ in composite.saved]
    needs = ", ".join(_needed(by_name[name]) for name in composite.inputs)
    likes = [by_name[name].targets[0].like for name in composite.inputs]
    dims = ", ".join(f"saved.{like}.sizes.size()" if like else "0" for like in likes)
    passed = separated(["given[0]", *saved, f"{{{needs}}}", f"{{{dims}}}"])
    found = Let("const variable_list", ("found",), code("graph::$($)", composite.gradients, passed))
    return found, _distributed(block)


def _recorded(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[Stmt, ...]:
    replayed = code("graph::replay($, given)", variable(f"saved.{block.record}"))
    if not isinstance(plan.operators[block.step.identity].callee, CondPlan):
        return Let("const variable_list", ("found",), replayed), _distributed(block)
    statements: list[Stmt] = [Let("variable_list", ("found",), replayed)]
    for at, target in enumerate(target for each in block.arguments for target in each.targets):
        zeros = code("found[$] = graph::or_zeros(found[$], saved.$, given)", str(at), str(at), target.like)
        statements += _if_needed(target, Do(zeros), block)
    return (*statements, _distributed(block))


def _view(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[Stmt, ...]:
    step = block.step
    viewed = plan.operators[step.identity].viewed
    view = call(
        plan.operators[step.identity].called, {**step.arguments, viewed: GIVEN}, with_given(code("base"), named)
    )
    target = next(t for a in block.arguments if a.name == viewed for t in a.targets)
    value, listed = block.grads[0]
    passed = code("$, saved.$, $", gradient(value), target.like, lambda_of(view))
    if listed or isinstance(target.value, Item):
        return add_to(target, code("graph::$($)", "unview_list" if listed else "unview", passed), block)
    return _if_needed(target, Do(code("graph::add_view($, $)", gradient(target.value), passed)), block)


def _cast(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[Stmt, ...]:
    target, grad = block.arguments[0].targets[0], gradient(block.grads[0][0])
    if block.step.assigns:
        value = code("graph::assigned_gradient($, saved.$)", grad, target.like)
    else:
        value = code("graph::cast($, saved.$.dtype)", grad, target.like)
    statements = add_to(target, value, block)
    for overwritten in (each for argument_ in block.arguments[1:] for each in argument_.targets):
        statements += add_to(overwritten, code("graph::zeros(saved.$, $)", overwritten.like, grad), block)
    return statements


def _missing(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[Stmt, ...]:
    name = plan.operators[block.step.identity].called.operator.partition(".")[0]
    return (Do(code('TORCH_CHECK(false, "derivative for $ is not implemented")', name)),)


STYLES: dict[str, Callable[[GraphPlan, CallBlock, SavedValues], tuple[Stmt, ...]]] = {
    "library": _library,
    "composite": _composite,
    "recorded": _recorded,
    "view": _view,
    "cast": _cast,
    "missing": _missing,
}
