"""Generates the gradients of one call: by formulas, the library's Nodes, a recorded call, the inverse of a view."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.families.nodes.plan import Saved
from pipeline.graphs.backward.composites import COMPOSITES
from pipeline.graphs.backward.plan import attribute_name
from pipeline.graphs.backward.program import Argument, CallBlock, Target
from pipeline.graphs.backward.saved import label
from pipeline.graphs.model import Item, Ref, Value
from pipeline.graphs.plan import CondPlan, GraphPlan
from pipeline.graphs.text.expressions.values import argument, call, tensor
from pipeline.graphs.text.forward import lambda_of
from pipeline.graphs.text.saved import assign, base_of, needs_text
from pipeline.model.autograd import SavedAttribute

_NODES = "torch::autograd::generated"


def gradient(value: Value) -> str:
    """The variable with a value's gradient."""
    return f"grad_of_{label(value) if isinstance(value, Ref) else base_of(value)}"


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

    def __call__(self, name: str) -> str:
        return self._known.get(name, "at::Tensor()")

    def value(self, value: Value) -> str:
        """The expression for a value, an item or a list."""
        if isinstance(value, Item) and label(value) in self._known:
            return self._known[label(value)]
        if isinstance(value, Item):
            return f"graph::held({self(value.name)}, {value.index})"
        return tensor(value, self)


def add_to(target: Target, text: str, block: CallBlock | None = None) -> list[str]:
    """The statements that add the expression `text` to the gradient of a target, within a block if there is one."""
    into = gradient(target.value)
    if isinstance(target.value, Item):
        into = f"{into}, saved.length_{target.value.name}, {target.value.index}"
    return _if_needed(target, f"graph::add({into}, {text}, saved.{target.like});", block)


def _if_needed(target: Target, statement: str, block: CallBlock | None) -> list[str]:
    """A statement that runs if the gradient of a target is needed. A block tests that one of its gradients is."""
    if not target.needs:
        return []
    if block is not None and frozenset(target.needs) == block_needs(block):
        return [statement]
    return [f"if ({needs_text(target.needs)}) {{", f"  {statement}", "}"]


def block_needs(block: CallBlock) -> frozenset[int]:
    """The inputs whose gradients need those that a block computes."""
    return frozenset(place for each in block.arguments for target in each.targets for place in target.needs)


def _distributed(block: CallBlock) -> list[str]:
    """Adds the computed gradients to those of the inputs, in the order of the inputs."""
    lines, at = [], 0
    dynamic = any(each.whole for each in block.arguments)
    if dynamic:
        lines.append("size_t next = 0;")
    for block_argument in block.arguments:
        if block_argument.whole:
            lines += _to_list(block_argument)
            continue
        for target in block_argument.targets:
            lines += add_to(target, "found[next]" if dynamic else f"found[{at}]", block)
            lines += ["++next;"] if dynamic else []
            at += 1
    return lines


def _to_list(block_argument: Argument) -> list[str]:
    """Adds gradients to those of a list with a length known at run time."""
    target, into = block_argument.targets[0], gradient(block_argument.targets[0].value)
    if not target.needs:
        return []
    size = f"saved.{target.like}.size()"
    body = f"graph::add({into}[i], found[next + i], saved.{target.like}[i]);"
    return [f"{into}.resize({size});", f"for (size_t i = 0; i < {size}; ++i) {{", f"  {body}", "}", f"next += {size};"]


def _length(argument: Argument) -> str:
    if not argument.whole:
        return str(len(argument.targets))
    return f"saved.{argument.targets[0].like}.size()" if argument.needs else "0"


def _needed(argument: Argument) -> str:
    return needs_text(argument.needs or argument.targets[0].needs if argument.targets else ())


def _attributes(plan: GraphPlan, block: CallBlock, named: SavedValues) -> tuple[list[str], dict[str, str]]:
    """The statements that make what the formulas use, and the expression for each of the Node's saved attributes."""
    node = plan.nodes[block.step.identity]
    by_name = {attribute.name: attribute for attribute in block.attributes}
    lines, expressions = [], {saved.name: f"the_{saved.name}" for saved in node.saved}
    for saved in node.saved:
        attribute = by_name[saved.name]
        name = attribute_name(block.step, attribute)
        type_ = saved.how.passed.removesuffix("&").strip()
        if saved.how.is_variable:
            lines.append(f"{type_} the_{saved.name} = {_variable(plan, block, attribute.expr, type_, named)};")
        elif name in named.attributes:
            expressions[saved.name] = f"saved.{name}"
        else:
            lines += _variables(plan, block, saved, attribute, named)
    return lines, expressions


_ASSIGNED = ("OptionalArray", "optional<std::string>")  # types whose conversion from an argument is an assignment


def _variables(
    plan: GraphPlan, block: CallBlock, saved: Saved, attribute: SavedAttribute, named: SavedValues
) -> list[str]:
    """The statements that declare an attribute that was not saved; one of an unused tensor is not computed."""
    name = f"the_{saved.name}"
    fields = [line.format(name=name) for line in saved.how.fields if "_released_" not in line]
    declared = [line if "=" in line else f"{line.removesuffix(';')}{{}};" for line in fields]
    if attribute.expr not in block.step.arguments or "TypeAndSize" in saved.how.passed:
        return declared
    assigned = assign(plan, block.step, attribute.expr, name, attribute.type, named)
    if len(fields) == 1 and not any(type_ in fields[0] for type_ in _ASSIGNED):
        return [f"{fields[0].partition(f' {name}')[0]} {assigned}"]
    return [*declared, assigned]


def _variable(plan: GraphPlan, block: CallBlock, expression: str, type_: str, named: SavedValues) -> str:
    step = block.step
    value = step.arguments.get(expression)
    if value is None:
        value = _result_values(plan, block).get(expression)
    if value is None:
        return f"{type_}()"
    if "List" in type_:
        return argument(value, "const c10::List<::std::optional<at::Tensor>> &", named)
    if hasattr(value, "values") and "vector" in type_:
        return f"{{{', '.join(named.value(v) for v in value.values)}}}"
    return named.value(value)


def _result_values(plan: GraphPlan, block: CallBlock) -> dict[str, Value]:
    names = plan.results[block.step.identity]
    results = block.step.results or ()
    if not results:
        return {name: Ref(clone) for name, (_, clone) in zip(names, block.step.clones)}
    return {name: Ref(result.name) for name, result in zip(names, results)}


def _own(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    node = plan.nodes[block.step.identity]
    sizes = [_length(a) for a in block.arguments if a.listed]
    retains = ["retain"] if node.retains_variables else []
    passed = ["std::move(given)", f"{{{', '.join(_needed(a) for a in block.arguments)}}}"]
    lines, expressions = _attributes(plan, block, named)
    passed += [*sizes, *expressions.values(), *retains]
    if retains:
        lines.append("bool retain = true;")
    computed = [
        f"const variable_list found = gradmill::formulas::{block.node}_apply_functional({', '.join(passed)});",
        *_distributed(block),
    ]
    if not block.part:
        return [*lines, *computed]
    into = gradient(block.arguments[0].targets[0].value)
    return [
        *lines,
        f"if (!graph::add_to_part({into}, given[0], {lambda_of(block.part.format_map(expressions))})) {{",
        *(f"  {line}" for line in computed),
        "}",
    ]


def _library(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    node = plan.nodes[block.step.identity]
    why = f"// libtorch's {block.node}: it keeps {', '.join(block.hidden)} to itself"
    made, expressions = _attributes(plan, block, named)
    lines = [why, *made, f"auto node = c10::make_intrusive<{_NODES}::{block.node}>();"]
    edges = ", ".join(f"{{{_needed(a)}, {_length(a)}}}" for a in block.arguments)
    lines.append(f"node->set_next_edges(graph::edges({{{edges}}}, needed));")
    lines += [f"node->{a.name}_size_ = {_length(a)};" for a in block.arguments if a.listed]
    for saved in node.saved:
        if not saved.how.is_variable:
            lines.append(f"node->{saved.name} = {expressions[saved.name]};")
        elif "vector" in saved.how.passed or "List" in saved.how.passed:
            lines.append(f"node->{saved.name}_ = torch::autograd::make_saved_variable_list(the_{saved.name}, false);")
        else:
            lines.append(f"node->{saved.name}_ = SavedVariable(the_{saved.name}, false);")
    return [*lines, "const variable_list found = node->apply(std::move(given));", *_distributed(block)]


def _composite(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    composite = COMPOSITES[plan.called[block.step.identity].struct]
    by_name = {argument.name: argument for argument in block.arguments}
    saved = [named.value(block.step.arguments[name]) for name, _ in composite.saved]
    needs = ", ".join(_needed(by_name[name]) for name in composite.inputs)
    likes = [by_name[name].targets[0].like for name in composite.inputs]
    dims = ", ".join(f"saved.{like}.sizes.size()" if like else "0" for like in likes)
    passed = ", ".join(["given[0]", *saved, f"{{{needs}}}", f"{{{dims}}}"])
    return [f"const variable_list found = graph::{composite.gradients}({passed});", *_distributed(block)]


def _recorded(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    replayed = f"graph::replay(saved.{block.record}, given)"
    if not isinstance(plan.callees.get(block.step.identity), CondPlan):
        return [f"const variable_list found = {replayed};", *_distributed(block)]
    lines = [f"variable_list found = {replayed};"]
    for at, target in enumerate(target for each in block.arguments for target in each.targets):
        lines += _if_needed(target, f"found[{at}] = graph::or_zeros(found[{at}], saved.{target.like}, given);", block)
    return [*lines, *_distributed(block)]


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
    if block.step.assigns:
        return add_to(target, f"graph::assigned_gradient({grad}, saved.{target.like})", block)
    return add_to(target, f"graph::cast({grad}, saved.{target.like}.dtype)", block)


def _missing(plan: GraphPlan, block: CallBlock, named: SavedValues) -> list[str]:
    name = plan.called[block.step.identity].operator
    return [f'TORCH_CHECK_NOT_IMPLEMENTED(false, "derivative for aten::{name} is not implemented");']


STYLES: dict[str, Callable[[GraphPlan, CallBlock, SavedValues], list[str]]] = {
    "own": _own,
    "library": _library,
    "composite": _composite,
    "recorded": _recorded,
    "view": _view,
    "cast": _cast,
    "missing": _missing,
}
