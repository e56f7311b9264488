"""The wrapper as C++: guards, history, what was written to is copied back, views are made again."""

from __future__ import annotations

from pipeline.graphs.backward.kept import label
from pipeline.graphs.functional.program import Given, Link, Shared, Shown
from pipeline.graphs.model import Input, Many, Nothing, Ref
from pipeline.graphs.plan import GraphPlan, Place, Variant
from pipeline.graphs.text.forward import needs_text
from pipeline.graphs.text.values import NUMBER_TYPES, call, constant, linked, number, quoted
from pipeline.graphs.model import Constant

_PASSED = {
    "Tensor": "const at::Tensor&",
    "Tensor?": "const std::optional<at::Tensor>&",
    "Tensor[]": "at::TensorList",
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "c10::string_view",
    "int[]": "at::IntArrayRef",
    "float[]": "at::ArrayRef<double>",
    "Scalar": "const at::Scalar&",
}


def passed_type(type_: str) -> str:
    """The type that an input is passed as."""
    if type_ in _PASSED:
        return _PASSED[type_]
    if type_.endswith("?"):
        return f"std::optional<{passed_type(type_[:-1])}>"
    return NUMBER_TYPES[type_]


def parameters(plan: GraphPlan) -> list[str]:
    """The inputs as parameters."""
    names = plan.functional.names
    return [f"{passed_type(given.type)} {names[given.name]}" for given in plan.functional.function.inputs]


def inner(plan: GraphPlan, given: Input) -> str:
    """The type that the forward takes an input as: what may be missing is an undefined tensor there."""
    return "const at::Tensor&" if given.type == "Tensor?" else passed_type(given.type)


def passed(plan: GraphPlan) -> list[str]:
    """The inputs as the wrapper passes them to the forward."""
    names = plan.functional.names
    return [
        f"graph::some({names[i.name]})" if i.type == "Tensor?" else names[i.name] for i in plan.functional.function.inputs
    ]


def result_type(plan: GraphPlan) -> str:
    """What the wrapper returns."""
    types = [output_type(output.type) for output in plan.functional.function.outputs]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def output_type(type_: str) -> str:
    if type_ == "Tensor":
        return "at::Tensor"
    if type_ == "Tensor?":
        return "std::optional<at::Tensor>"
    return "std::vector<at::Tensor>" if type_ == "Tensor[]" else NUMBER_TYPES[type_]


# ---- guards


def guards(plan: GraphPlan) -> list[str]:
    """Errors for inputs that the graph was not made for."""
    function, names = plan.functional.function, plan.functional.names
    lines = []
    for given in function.inputs:
        name = names[given.name]
        if given.facts is not None:
            sizes = ", ".join(map(str, given.facts.sizes))
            strides = ", ".join(map(str, given.facts.strides))
            dtype = constant(Constant("ScalarType", given.facts.dtype))
            lines.append(
                f'graph::check_looks("{function.name}", {quoted(given.name)}, {name}, {{{sizes}}}, {{{strides}}}, {dtype});'
            )
        if given.fixed is not None and not isinstance(given.fixed, Nothing):
            lines.append(
                f'TORCH_CHECK({name} == {number(given.fixed)}, "{function.name}: the graph is made for {given.name} = {number(given.fixed)}".);'.replace(
                    '".)', '")'
                )
            )
    for written in plan.functional.written:
        for place in plan.tensors:
            if place.name != written:
                lines.append(f'graph::check_apart("{function.name}", "{written}", graph::some({written}), "{place.name}", {place.name});')
    return lines


def checks(plan: GraphPlan) -> list[str]:
    """What eager refuses to write to."""
    lines = []
    for check, needs in plan.checks:
        if needs:
            view = linked(f"graph::some({check.input})", check.chain, plan.called, lambda n: n, modes=True)
            lines += [f"if ({needs_text(needs)}) {{", f"  torch::autograd::check_inplace({view}, true);", "}"]
    return lines


# ---- inputs that share memory


def dispatch(plan: GraphPlan) -> list[str]:
    """Calls the variant for inputs that share memory, where some do."""
    return [line for variant in plan.variants for line in _variant(plan, variant)]


def _variant(plan: GraphPlan, variant: Variant) -> list[str]:
    names = plan.functional.names
    sets = [[names[name] for name in members] for members in variant.shared]
    condition = " && ".join(f"graph::meet({{{', '.join(members)}}})" for members in sets)
    shared = {name for members in variant.shared for name in members}
    passed: list[str] = []
    for members in sets:
        passed.append(f'graph::base_of("{plan.functional.function.name}", {{{", ".join(members)}}})')
        passed += [f"{name}.{part}" for name in members for part in ("sizes()", "strides()", "storage_offset()")]
    passed += [names[given.name] for given in plan.functional.function.inputs if given.name not in shared]
    call_ = f"{variant.plan.functional.function.name}({', '.join(passed)})"
    back = [f"  {line}" for line in metadata(plan)]
    outputs = plan.functional.outputs
    if not outputs:
        return [f"if ({condition}) {{", f"  {call_};", *back, "  return;", "}"]
    lines = [f"if ({condition}) {{", f"  auto shared_results = {call_};"]
    for i, given in enumerate(outputs):
        if isinstance(given, Shown) and given.is_input and not given.chain and isinstance(given.base, Ref):
            into = f"std::get<{i}>(shared_results)" if len(outputs) > 1 else "shared_results"
            lines.append(f"  {into} = {given.base.name};")
    return [*lines, *back, "  return shared_results;", "}"]


# ---- afterwards


def history(plan: GraphPlan) -> dict[str, list[str]]:
    """How outputs get the Node as their history, and the Node what it keeps."""
    outputs = [
        f"graph::output(results.{each.name}, node, {needs_text(each.needs)});" for each in plan.returned if each.needs
    ]
    variables = []
    for kept in plan.backward.tensors:
        if kept.how in ("input", "output"):
            source = f"results.{kept.name}" if kept.how == "output" else _input(plan, kept.name, kept.value)
            flag = "true" if kept.how == "output" else "false"
            lines = [f"if ({needs_text(kept.needs)}) {{", f"  node->{kept.name} = SavedVariable({source}, {flag});", "}"]
            variables += lines if kept.needs else []
    return {"outputs": outputs, "variables": variables}


def _input(plan: GraphPlan, name: str, value: object) -> str:
    if isinstance(value, Ref):
        return f"graph::some({name})"
    return f"graph::item({value.name}, {value.index})"  # type: ignore[attr-defined]


def updates(plan: GraphPlan) -> list[str]:
    """What was written to inputs is copied into them."""
    lines = []
    for update in plan.functional.updates:
        text = f"graph::some({update.input}).copy_(results.{label(update.value)})"
        mode = "silently" if update.silent else "without_grad"
        lines.append(f"{text};" if update.grad else f"graph::{mode}([&] {{ return {text}; }});")
    return lines


def metadata(plan: GraphPlan) -> list[str]:
    """In-place views of inputs, as they were written."""
    lines = [f"torch::autograd::impl::bump_version({name});" for name in plan.functional.bumped]
    for name, link in plan.functional.metadata:
        arguments = {**link.arguments, link.viewed: Ref(name)}
        text = call(plan.original[link.identity], arguments, _numbers(plan))
        text = text.replace(f"({name}", f"(graph::mutable_({name})", 1)
        lines.append(f"{text};" if link.grad else f"graph::without_grad([&] {{ return {text}; }});")
    return lines


def _numbers(plan: GraphPlan):  # type: ignore[no-untyped-def]
    known = set(plan.functional.names.values())
    return lambda name: name if name in known or name == "\0" else f"results.{name}"


class _Views:
    """Outputs that are views, each made once, a step at a time."""

    def __init__(self, plan: GraphPlan) -> None:
        self.plan = plan
        self.lines: list[str] = []
        self.made: dict[tuple[str, int], str] = {}

    def shown(self, shown: Shown) -> str:
        plan = self.plan
        if shown.is_input and not isinstance(shown.base, Ref):
            text = f"graph::item({shown.base.name}, {shown.base.index})"  # type: ignore[union-attr]
        else:
            text = label(shown.base) if shown.is_input else f"results.{label(shown.base)}"
        optional = {n for g in plan.functional.function.inputs if g.type == "Tensor?" for n in [plan.functional.names[g.name]]}
        if text in optional:
            text = f"graph::some({text})"
        for i, link in enumerate(shown.chain):
            listed = link.item is None and (
                (shown.listed and i == len(shown.chain) - 1)
                or (i + 1 < len(shown.chain) and shown.chain[i + 1].item is not None)
            )
            last = i == len(shown.chain) - 1
            text = self._step(text, link, listed=listed, which=shown.which if last and not listed else -1)
        if shown.otherwise is not None:
            flags = " && ".join(_numbers(plan)(flag) for flag in shown.flags)
            text = f"({flags} ? {text} : results.{label(shown.otherwise)})"
        return text

    def _step(self, base: str, link: Link, *, listed: bool, which: int) -> str:
        text = linked(base, (link,), self.plan.called, _numbers(self.plan), modes=True)
        key = (text, which)
        if key not in self.made:
            name = f"view_{len(self.made) + 1}"
            type_ = "std::vector<at::Tensor>" if listed else "at::Tensor"
            self.lines.append(f"const {type_} {name}_of_base = {text};")
            self.made[key] = f"{name}_of_base"
        return self.made[key]


def views_and_return(plan: GraphPlan) -> tuple[list[str], str]:
    """The views that outputs are, and the return statement."""
    views = _Views(plan)
    texts = [_output(plan, views, given) for given in plan.functional.outputs]
    if not texts:
        return views.lines, "return;"
    if len(texts) == 1:
        return views.lines, f"return {texts[0]};"
    return views.lines, f"return {{{', '.join(texts)}}};"


def _output(plan: GraphPlan, views: _Views, given: Given) -> str:
    if isinstance(given, Shared):
        return f"std::vector<at::Tensor>{{{', '.join(views.shown(each) for each in given.items)}}}"
    if isinstance(given, Shown):
        return views.shown(given)
    if isinstance(given, Many):
        return f"{{{', '.join(number(v, _numbers(plan)) for v in given.values)}}}"
    return "std::nullopt" if isinstance(given, Nothing) else number(given, _numbers(plan))


def edges(places: tuple[Place, ...]) -> list[str]:
    """Which inputs the running backward wants gradients of."""
    lines = []
    for place in places:
        count = f"{place.name}_size" if place.type.endswith("]") else "1"
        lines += [f"needs[{place.index}] = wants(place, {count});", f"place += {count};"]
    return lines
