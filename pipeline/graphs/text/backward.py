"""The backward as C++: one block a call, in reverse."""

from __future__ import annotations

from pipeline.graphs.backward.kept import label
from pipeline.graphs.backward.plan import attribute_name
from pipeline.graphs.backward.program import Argument, Block, CallBlock, ChooseBlock, ScatterBlock, Target
from pipeline.graphs.model import Item, Ref, Value
from pipeline.graphs.plan import GraphPlan, Returned
from pipeline.graphs.text.forward import assign, base_of, lambda_of, needs_text
from pipeline.graphs.text.values import argument, call, linked, tensor

_NODES = "torch::autograd::generated"


def gradient(value: Value) -> str:
    """The variable that a value's gradient is in."""
    return f"grad_of_{label(value) if isinstance(value, Ref) else base_of(value)}"


def kept(plan: GraphPlan) -> dict[str, str]:
    """Values, and where the backward finds them."""
    found = {t.name: f"saved.{t.name}" for t in plan.backward.tensors}
    found |= {t.name: t.name for t in plan.backward.tensors if t.how in ("input", "output")}
    found |= {r.step.results[0].name: r.step.results[0].name for r in plan.backward.rebuilt}
    return found | {n.name: f"saved.{n.name}" for n in plan.backward.numbers}


class _Kept:
    """Finds what is kept; of what is not, since nobody needs it, an undefined tensor."""

    def __init__(self, plan: GraphPlan) -> None:
        self._known = kept(plan)

    def __call__(self, name: str) -> str:
        return self._known.get(name, "at::Tensor()")

    def value(self, value: Value) -> str:
        if isinstance(value, Item) and label(value) in self._known:
            return self._known[label(value)]
        if isinstance(value, Item):
            return f"graph::kept({self(value.name)}, {value.index})"
        return tensor(value, self)


def statements(plan: GraphPlan) -> list[str]:
    """The statements of the backward."""
    named = _Kept(plan)
    lines = _declared(plan)
    for i, returned in enumerate(each for each in plan.returned if each.needs):
        lines += _incoming(returned, i)
    for rebuilt in plan.backward.rebuilt:
        step = rebuilt.step
        viewed = base_of(step.arguments[plan.viewed[step.identity]])
        type_ = "std::vector<at::Tensor>" if step.results[0].type.endswith("]") else "at::Tensor"
        text = call(plan.called[step.identity], step.arguments, named)
        lines.append(f"const {type_} {step.results[0].name} = {named(viewed)}.defined() ? {text} : {type_}();")
    for block in plan.backward.blocks:
        lines += _block(plan, block, named)
    return lines


def _incoming(returned: Returned, i: int) -> list[str]:
    slot = Ref(returned.slot)
    if isinstance(returned.value, Item):
        name = f"length_{returned.value.name}"
        return [f"graph::incoming({gradient(returned.value)}, saved.{name}, {returned.value.index}, grads[{i}]);"]
    return [f"graph::incoming({gradient(slot)}, grads[{i}]);"]


def _declared(plan: GraphPlan) -> list[str]:
    """The gradients, undefined so far."""
    found: dict[str, str] = {}
    for place in plan.tensors:
        listed = place.type.endswith("]")
        found[f"grad_of_{place.name}"] = "std::vector<at::Tensor>" if listed else "at::Tensor"
    for returned in plan.returned:
        if returned.needs:
            listed = isinstance(returned.value, Item)
            name = gradient(returned.value) if listed else f"grad_of_{returned.slot}"
            found.setdefault(name, "std::vector<at::Tensor>" if listed else "at::Tensor")
    for block in plan.backward.blocks:
        if isinstance(block, ScatterBlock):
            found.setdefault(gradient(Ref(block.step.result)), "at::Tensor")
            values = [(block.base.value, False), (block.value.value, False)]
        elif isinstance(block, ChooseBlock):
            found.setdefault(gradient(Ref(block.step.result)), "at::Tensor")
            values = [(block.then.value, False), (block.otherwise.value, False)]
        else:
            for value, listed in block.grads:
                found.setdefault(gradient(value), "std::vector<at::Tensor>" if listed else "at::Tensor")
            values = [(t.value, a.whole) for a in block.arguments for t in a.targets if t.needs]
        for value, whole in values:
            if hasattr(value, "name"):
                listed = whole or isinstance(value, Item)
                found.setdefault(gradient(value), "std::vector<at::Tensor>" if listed else "at::Tensor")
    return [f"{type_} {name};" for name, type_ in found.items()]


def _block(plan: GraphPlan, block: Block, named: _Kept) -> list[str]:
    if isinstance(block, ScatterBlock):
        return _scatter(plan, block, named)
    if isinstance(block, ChooseBlock):
        grad, flags = gradient(Ref(block.step.result)), " && ".join(map(named, block.step.flags))
        then, otherwise = (["  " + line for line in _add(each, grad)] for each in (block.then, block.otherwise))
        return [f"if ({flags}) {{", *then, "} else {", *otherwise, "}"]
    grads = "graph::joined({" + ", ".join(gradient(value) for value, _ in block.grads) + "})"
    needs = needs_text(frozenset(p for a in block.arguments for t in a.targets for p in t.needs))
    where = f"line {block.step.place.line}" if block.step.place.line else block.step.place.node
    body = _STYLES[block.style](plan, block, named)
    sized = [f"{gradient(v)}.resize(saved.length_{base_of(v)});" for v, listed in block.grads if listed]
    lines = [*sized, f"if (variable_list given = {grads}; graph::any_defined(given) && ({needs})) {{ // {where}"]
    return [*lines, *(f"  {line}" for line in body), "}"]


def _scatter(plan: GraphPlan, block: ScatterBlock, named: _Kept) -> list[str]:
    grad = gradient(Ref(block.step.result))
    view = lambda_of(linked("base", block.step.chain, plan.called, named))
    flags = "".join(f" && {named(flag)}" for flag in block.step.flags)
    lines = [f"if ({grad}.defined(){flags}) {{ // written into a view, line {block.step.place.line}"]
    lines.append(f"  const auto [part, rest] = graph::unscatter({grad}, saved.{block.layout}, {view});")
    lines += [f"  {line}" for line in _add(block.value, "part") + _add(block.base, "rest")]
    if flags:
        lines += ["} else {", *(f"  {line}" for line in _add(block.base, grad))]
    return [*lines, "}"]


def _add(target: Target, text: str) -> list[str]:
    if not target.needs:
        return []
    into = gradient(target.value)
    if isinstance(target.value, Item):
        into = f"{into}, saved.length_{target.value.name}, {target.value.index}"
    return [f"if ({needs_text(target.needs)}) {{", f"  graph::add({into}, {text}, saved.{target.like});", "}"]


def _distributed(block: CallBlock) -> list[str]:
    """Adds what was found to the gradients, in the order of the inputs."""
    lines, at = [], 0
    dynamic = any(argument.whole for argument in block.arguments)
    if dynamic:
        lines.append("size_t next = 0;")
    for argument in block.arguments:
        if argument.whole:
            target = argument.targets[0]
            size = f"saved.{target.like}.size()" if target.like else "0"
            if target.needs:
                lines += [
                    f"{gradient(target.value)}.resize({size});",
                    f"for (size_t i = 0; i < {size}; ++i) {{",
                    f"  graph::add({gradient(target.value)}[i], found[next + i], saved.{target.like}[i]);",
                    "}",
                ]
            lines.append(f"next += {size};")
            continue
        for target in argument.targets:
            lines += _add(target, f"found[{'next++' if dynamic else at}]")
            if dynamic and not target.needs:
                lines.append("++next;")
            at += 1
    return lines


def _length(argument: Argument) -> str:
    if not argument.whole:
        return str(len(argument.targets))
    return f"saved.{argument.targets[0].like}.size()" if argument.needs else "0"


def _needed(argument: Argument) -> str:
    return needs_text(argument.needs or argument.targets[0].needs if argument.targets else ())


def _attributes(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    """What the formulas ask for, by the names that they have for it."""
    node = plan.nodes[block.step.identity]
    by_name = {attribute.name: attribute for attribute in block.attributes}
    known = {a.name for a in plan.backward.attributes}
    lines = []
    for saved in node.saved:
        attribute = by_name[saved.name]
        name = attribute_name(block.step, attribute)
        type_ = saved.how.passed.removesuffix("&").strip()
        if saved.how.is_variable:
            lines.append(f"{type_} the_{saved.name} = {_variable(plan, block, attribute.expr, type_, named)};")
        elif name in known:
            lines.append(f"auto& the_{saved.name} = saved.{name};")
        else:
            fields = [line.format(name=f"the_{saved.name}") for line in saved.how.fields if "_released_" not in line]
            lines += fields
            if attribute.expr in block.step.arguments:
                lines.append(assign(plan, block.step, attribute.expr, f"the_{saved.name}", attribute.type, named))
    return lines


def _variable(plan: GraphPlan, block: CallBlock, expression: str, type_: str, named: _Kept) -> str:
    step = block.step
    value = step.arguments.get(expression)
    if value is None:
        value = _made(plan, block).get(expression)
    if value is None:
        return f"{type_}()"
    if "List" in type_:
        return argument(value, "const c10::List<::std::optional<at::Tensor>> &", named)
    if hasattr(value, "values") and "vector" in type_:
        return f"{{{', '.join(named.value(v) for v in value.values)}}}"
    return named.value(value)


def _made(plan: GraphPlan, block: CallBlock) -> dict[str, Value]:
    names = plan.results[block.step.identity]
    made = block.step.results or ()
    if not made:
        return {name: Ref(clone) for name, (_, clone) in zip(names, block.step.clones)}
    return {name: Ref(result.name) for name, result in zip(names, made)}


def _own(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    node = plan.nodes[block.step.identity]
    sizes = [_length(a) for a in block.arguments if a.listed]
    retains = ["retain"] if node.retains_variables else []
    passed = ["std::move(given)", f"{{{', '.join(_needed(a) for a in block.arguments)}}}"]
    passed += [*sizes, *(f"the_{saved.name}" for saved in node.saved), *retains]
    lines = _attributes(plan, block, named)
    if retains:
        lines.append("bool retain = true;")
    return [*lines, f"const variable_list found = gradmill::formulas::{block.node}_apply_functional({', '.join(passed)});", *_distributed(block)]


def _library(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    node = plan.nodes[block.step.identity]
    lines = [*_attributes(plan, block, named), f"auto node = c10::make_intrusive<{_NODES}::{block.node}>();"]
    edges = ", ".join(f"{{{_needed(a)}, {_length(a)}}}" for a in block.arguments)
    lines.append(f"node->set_next_edges(graph::edges({{{edges}}}, needed));")
    lines += [f"node->{a.name}_size_ = {_length(a)};" for a in block.arguments if a.listed]
    for saved in node.saved:
        if not saved.how.is_variable:
            lines.append(f"node->{saved.name} = the_{saved.name};")
        elif "vector" in saved.how.passed or "List" in saved.how.passed:
            lines.append(f"node->{saved.name}_ = torch::autograd::make_saved_variable_list(the_{saved.name}, false);")
        else:
            lines.append(f"node->{saved.name}_ = SavedVariable(the_{saved.name}, false);")
    return [*lines, "const variable_list found = node->apply(std::move(given));", *_distributed(block)]


def _recorded(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    return [f"const variable_list found = graph::replay(saved.{block.record}, given);", *_distributed(block)]


def _view(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    step = block.step
    viewed = plan.viewed[step.identity]
    arguments = {**step.arguments, viewed: Ref("\0")}
    text = call(plan.called[step.identity], arguments, lambda name: "base" if name == "\0" else named(name))
    target = next(t for a in block.arguments if a.name == viewed for t in a.targets)
    value, listed = block.grads[0]
    made = "unview_list" if listed else "unview"
    view = lambda_of(text)
    return _add(target, f"graph::{made}({gradient(value)}, saved.{target.like}, {view})")


def _cast(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    target = block.arguments[0].targets[0]
    return _add(target, gradient(block.grads[0][0]))


def _missing(plan: GraphPlan, block: CallBlock, named: _Kept) -> list[str]:
    name = plan.called[block.step.identity].operator
    return [f'TORCH_CHECK_NOT_IMPLEMENTED(false, "derivative for aten::{name} is not implemented");']


_STYLES = {
    "own": _own,
    "library": _library,
    "recorded": _recorded,
    "view": _view,
    "cast": _cast,
    "missing": _missing,
}
