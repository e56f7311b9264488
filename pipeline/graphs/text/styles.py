"""Generates the gradients of one call: by formulas, the library's Nodes, a recorded call, the inverse of a view."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.graphs.backward.plan import attribute_name
from pipeline.graphs.backward.program import Argument, CallBlock, GradientTarget
from pipeline.graphs.backward.saved import in_like, label
from pipeline.graphs.model import Item, Many, Ref, Value
from pipeline.graphs.plan import CondPlan, GraphPlan
from pipeline.graphs.text.expressions.values import argument, call, tensor
from pipeline.graphs.text.forward import lambda_of
from pipeline.graphs.text.saved import expression_over, gradient, needs_text
from pipeline.graphs.traits import BATCH_NORMS, COMPOSITES

_NODES = "torch::autograd::generated"


def saved_expressions(plan: GraphPlan) -> dict[str, str]:
    """The C++ expression of each saved value in the backward."""
    expressions = {t.name: f"saved.{t.name}" for t in plan.backward.tensors}
    expressions |= {t.name: t.name for t in plan.backward.tensors if t.how in ("input", "output")}
    expressions |= {r.name: r.name for r in plan.backward.remade}
    return expressions | {n.name: f"saved.{n.name}" for n in plan.backward.numbers}


class SavedValues:
    """The expressions for saved values. A value that was not saved, as no gradient uses it, is an undefined tensor."""

    def __init__(self, plan: GraphPlan) -> None:
        self._known = saved_expressions(plan)
        self.attributes = {attribute.name for attribute in plan.backward.attributes}
        self.marks = {mark.name for mark in plan.backward.marks}

    def __call__(self, name: str) -> str:
        return self._known.get(name, "at::Tensor()")

    def own(self, value: Value) -> Value:
        """A value as an argument of a call in the backward: an item of a list that was saved by itself has its name."""
        if isinstance(value, Many):
            return Many(tuple(map(self.own, value.values)))
        return Ref(label(value)) if isinstance(value, Item) and label(value) in self._known else value

    def value(self, value: Value) -> str:
        """The expression for a value, an item or a list."""
        if isinstance(value, Item) and label(value) in self._known:
            return self._known[label(value)]
        if isinstance(value, Item):
            return f"graph::held({self(value.name)}, {value.index})"
        return tensor(value, self)


def add_to(target: GradientTarget, text: str, block: CallBlock | None = None) -> list[str]:
    """The statements that add the expression `text` to the gradient of a target, within a block if there is one."""
    into = gradient(target.value)
    if isinstance(target.value, Item):
        into = f"{into}, saved.length_{target.value.name}, {target.value.index}"
    return _if_needed(target, f"graph::add({into}, {text}, saved.{target.like});", block)


def _if_needed(target: GradientTarget, statement: str, block: CallBlock | None) -> list[str]:
    """A statement that runs if the gradient of a target is needed. A block tests that one of its gradients is."""
    if not target.needs:
        return []
    if block is not None and frozenset(target.needs) == block_needs(block):
        return [statement]
    return [f"if ({needs_text(target.needs)}) {{", f"  {statement}", "}"]


def block_needs(block: CallBlock) -> frozenset[int]:
    """The inputs whose gradients need those that a block computes."""
    return frozenset(place for each in block.arguments for target in each.targets for place in target.needs)


def _distributed(block: CallBlock) -> str:
    """The statement that adds the computed gradients to those of the inputs."""
    return f"graph::distribute(found, {_targets(block)});"


def _targets(block: CallBlock) -> str:
    """Where the gradients of all inputs go, in their order."""
    needs, targets = block_needs(block), []
    for argument_ in block.arguments:
        if not argument_.whole:
            targets += [target_text(each, needs) for each in argument_.targets]
        elif argument_.targets[0].needs:
            targets.append(target_text(argument_.targets[0], needs))
    while targets and targets[-1] == "{}":
        targets.pop()
    return f"{{{', '.join(targets)}}}"


def target_text(target: GradientTarget, tested: frozenset[int] = frozenset()) -> str:
    """Where a gradient goes. `tested`: the inputs one of which is known to need a gradient."""
    if not target.needs:
        return "{}"
    passed = [gradient(target.value), f"saved.{target.like}"]
    if isinstance(target.value, Item):
        passed[1:1] = [f"saved.length_{target.value.name}", str(target.value.index)]
    if frozenset(target.needs) != tested:
        passed.insert(0, needs_text(target.needs))
    return f"{{{', '.join(passed)}}}"


def _length(argument: Argument) -> str:
    if not argument.whole:
        return str(len(argument.targets))
    return f"saved.{argument.targets[0].like}.size()" if argument.needs else "0"


def _needed(argument: Argument) -> str:
    return needs_text(argument.needs or argument.targets[0].needs if argument.targets else ())


def _attributes(plan: GraphPlan, block: CallBlock, named: SavedValues) -> dict[str, str]:
    """The expression for each of the Node's saved attributes; `{}` for one of a tensor that no gradient uses."""
    by_name = {attribute.name: attribute for attribute in block.attributes}
    expressions = {}
    for saved in plan.nodes[block.step.identity].saved:
        attribute = by_name[saved.name]
        name = attribute_name(block.step, attribute)
        member = in_like(attribute.expr, block.step.arguments, named.marks)
        if saved.how.is_variable:
            type_ = saved.how.passed.removesuffix("&").strip()
            expressions[saved.name] = _variable(plan, block, attribute.expr, type_, named)
        elif name in named.attributes:
            expressions[saved.name] = f"saved.{name}"
        elif member is not None:
            expressions[saved.name] = f"saved.{member}"
        elif attribute.expr not in block.step.arguments or "TypeAndSize" in saved.how.passed:
            expressions[saved.name] = "{}"
        else:
            text = expression_over(plan, block.step, attribute.expr, attribute.type, named)
            assigned = any(type_ in saved.how.passed for type_ in _ASSIGNED)
            expressions[saved.name] = (
                f"graph::attribute<{saved.how.passed.removesuffix('&')}>({text})" if assigned else text
            )
    return expressions


_ASSIGNED = ("OptionalArray", "optional<std::string>")  # types whose conversion from an argument is an assignment


def _variable(plan: GraphPlan, block: CallBlock, expression: str, type_: str, named: SavedValues) -> str:
    step = block.step
    value = step.arguments.get(expression)
    if value is None:
        value = step.named(plan.results[step.identity]).get(expression)
    if value is None:
        return "{}"
    if "List" in type_:
        return argument(value, "const c10::List<::std::optional<at::Tensor>> &", named)
    if hasattr(value, "values") and "vector" in type_:
        return f"std::vector<at::Tensor>{{{', '.join(named.value(v) for v in value.values)}}}"
    return named.value(value)


def own(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    """The statements of a block that calls the formula of a Node."""
    node, attributes = plan.nodes[block.step.identity], _attributes(plan, block, named)
    passed = [
        f"formulas::{block.node}_apply_functional",
        f"{{{', '.join(gradient(value) for value, _ in block.grads)}}}",
        f"{{{', '.join(_needed(a) for a in block.arguments)}}}",
        _targets(block),
        *(_length(a) for a in block.arguments if a.listed),
        *attributes.values(),
        *(["true"] if node.retains_variables else []),
    ]
    apply = "apply_to_batch" if plan.called[block.step.identity].operator in BATCH_NORMS else "apply"
    call_ = f"graph::{apply}({', '.join(passed)});"
    if not block.part:
        return [call_]
    into, grad = gradient(block.arguments[0].targets[0].value), gradient(block.grads[0][0])
    return [
        f"if (!graph::add_to_part({into}, {grad}, {lambda_of(block.part.format_map(attributes))})) {{",
        f"  {call_}",
        "}",
        f"graph::drop({grad});",
    ]


def _library(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    node = plan.nodes[block.step.identity]
    why = f"// libtorch's {block.node}: it keeps {', '.join(block.hidden)} to itself"
    expressions = _attributes(plan, block, named)
    lines = [why, f"auto node = graph::new_node<{_NODES}::{block.node}>();"]
    edges = ", ".join(f"{{{_needed(a)}, {_length(a)}}}" for a in block.arguments)
    lines.append(f"node->set_next_edges(graph::edges({{{edges}}}, needed));")
    lines += [f"node->{a.name}_size_ = {_length(a)};" for a in block.arguments if a.listed]
    for saved in node.saved:
        value = expressions[saved.name]
        if not saved.how.is_variable:
            lines.append(f"node->{saved.name} = {value};")
        elif "vector" in saved.how.passed or "List" in saved.how.passed:
            lines.append(f"node->{saved.name}_ = torch::autograd::make_saved_variable_list({value}, false);")
        else:
            lines.append(f"node->{saved.name}_ = SavedVariable({'at::Tensor()' if value == '{}' else value}, false);")
    return [*lines, "const variable_list found = node->apply(std::move(given));", _distributed(block)]


def _composite(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    composite = COMPOSITES[plan.called[block.step.identity].operator]
    by_name = {argument.name: argument for argument in block.arguments}
    saved = [named.value(block.step.arguments[name]) for name, _ in composite.saved]
    needs = ", ".join(_needed(by_name[name]) for name in composite.inputs)
    likes = [by_name[name].targets[0].like for name in composite.inputs]
    dims = ", ".join(f"saved.{like}.sizes.size()" if like else "0" for like in likes)
    passed = ", ".join(["given[0]", *saved, f"{{{needs}}}", f"{{{dims}}}"])
    return [f"const variable_list found = graph::{composite.gradients}({passed});", _distributed(block)]


def _recorded(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    replayed = f"graph::replay(saved.{block.record}, given)"
    if not isinstance(plan.callees.get(block.step.identity), CondPlan):
        return [f"const variable_list found = {replayed};", _distributed(block)]
    lines = [f"variable_list found = {replayed};"]
    for at, target in enumerate(target for each in block.arguments for target in each.targets):
        lines += _if_needed(target, f"found[{at}] = graph::or_zeros(found[{at}], saved.{target.like}, given);", block)
    return [*lines, _distributed(block)]


def _view(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    step = block.step
    viewed = plan.viewed[step.identity]
    arguments = {**step.arguments, viewed: Ref("\0")}
    text = call(plan.called[step.identity], arguments, lambda name: "base" if name == "\0" else named(name))
    target = next(t for a in block.arguments if a.name == viewed for t in a.targets)
    value, listed = block.grads[0]
    passed = f"{gradient(value)}, saved.{target.like}, {lambda_of(text)}"
    if listed or isinstance(target.value, Item):
        return add_to(target, f"graph::{'unview_list' if listed else 'unview'}({passed})", block)
    return _if_needed(target, f"graph::add_view({gradient(target.value)}, {passed});", block)


def _cast(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    target, grad = block.arguments[0].targets[0], gradient(block.grads[0][0])
    text = f"graph::cast({grad}, saved.{target.like}.dtype)"
    if block.step.assigns:
        text = f"graph::assigned_gradient({grad}, saved.{target.like})"
    lines = add_to(target, text, block)
    for overwritten in (each for argument_ in block.arguments[1:] for each in argument_.targets):
        lines += add_to(overwritten, f"graph::zeros(saved.{overwritten.like}, {grad})", block)
    return lines


def _missing(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    name = plan.called[block.step.identity].operator.partition(".")[0]
    return [f'TORCH_CHECK(false, "derivative for {name} is not implemented");']


STYLES: dict[str, Callable[[GraphPlan, CallBlock, SavedValues], list[str]]] = {
    "library": _library,
    "composite": _composite,
    "recorded": _recorded,
    "view": _view,
    "cast": _cast,
    "missing": _missing,
}
