"""Generates the wrapper's code before the forward: its types, the guards of inputs, the choice of a variant."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from pipeline.graphs.functional.program import Shown, names_in
from pipeline.graphs.model import Constant, Input, Nothing, Ref
from pipeline.graphs.plan import GraphPlan, Variant
from pipeline.graphs.text.expressions.literals import NUMBER_TYPES, constant, quoted
from pipeline.graphs.text.expressions.values import call, linked, number
from pipeline.graphs.text.saved import needs_text

_PASSED = {
    "Tensor": "const at::Tensor&",
    "Tensor?": "const std::optional<at::Tensor>&",
    "Tensor[]": "at::TensorList",
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "c10::string_view",
    "int[]": "at::IntArrayRef",
    "int[]?": "at::OptionalIntArrayRef",
    "float[]": "at::ArrayRef<double>",
    "bool[]": "const c10::List<bool>&",
    "Scalar": "const at::Scalar&",
    "Scalar?": "const std::optional<at::Scalar>&",
}


def passed_type(type_: str) -> str:
    """The C++ parameter type of an input of the wrapper."""
    if type_ in _PASSED:
        return _PASSED[type_]
    if type_.endswith("?"):
        return f"std::optional<{passed_type(type_[:-1])}>"
    return NUMBER_TYPES[type_]


def parameters(plan: GraphPlan) -> list[str]:
    """The C++ parameters of the wrapper."""
    names = plan.functional.names
    return [f"{passed_type(each.type)} {names[each.name]}" for each in plan.functional.function.inputs]


def inner(input_: Input) -> str:
    """The C++ parameter type of an input of the forward. None becomes an undefined tensor."""
    return "const at::Tensor&" if input_.type == "Tensor?" else passed_type(input_.type)


def passed(plan: GraphPlan) -> list[str]:
    """The arguments that the wrapper passes to the forward."""
    names = plan.functional.names
    return [
        f"graph::some({names[i.name]})" if i.type == "Tensor?" else names[i.name]
        for i in plan.functional.function.inputs
    ]


def result_type(plan: GraphPlan) -> str:
    """The C++ return type of the wrapper."""
    types = [output_type(output.type) for output in plan.functional.function.outputs]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def output_type(type_: str) -> str:
    """The C++ type of an output of the schema type `type_`."""
    if type_ == "Tensor":
        return "at::Tensor"
    if type_ == "Tensor?":
        return "std::optional<at::Tensor>"
    return "std::vector<at::Tensor>" if type_ == "Tensor[]" else NUMBER_TYPES[type_]


def guards(plan: GraphPlan) -> list[str]:
    """The statements that reject inputs that the graph is not specialised to, or that share memory undeclared."""
    function, names = plan.functional.function, plan.functional.names
    lines = []
    for input_ in function.inputs:
        name = names[input_.name]
        if input_.facts is not None:
            lines.append(_metadata_guard(function.name, input_, name))
        if input_.fixed is not None and not isinstance(input_.fixed, Nothing):
            what = f"the graph is made for {input_.name} = {number(input_.fixed)}"
            lines.append(f"TORCH_CHECK({name} == {number(input_.fixed)}, {quoted(f'{function.name}: {what}')});")
    return [*lines, *_apart(plan)]


def _apart(plan: GraphPlan) -> list[str]:
    """The check that no written input shares memory with another one; the written ones by their places."""
    places = {place.name: place.index for place in plan.tensors}
    written = ", ".join(str(places[name]) for name in plan.functional.written)
    if not written or len(places) < 2:
        return []
    inputs = ", ".join(f'{{"{name}", {name}}}' for name in places)
    return [f"graph::check_apart({quoted(plan.functional.function.name)}, {{{written}}}, {{{inputs}}});"]


def _metadata_guard(graph: str, input_: Input, name: str) -> str:
    """The guard of a tensor with the metadata that the graph is specialised to."""
    facts = input_.facts
    assert facts is not None
    sizes = f"{{{', '.join(map(str, facts.sizes))}}}"
    dtype = constant(Constant("ScalarType", facts.dtype))
    return f'graph::check_metadata("{graph}", {quoted(input_.name)}, {name}, {sizes}, {dtype});'


def checks(plan: GraphPlan, *, late: bool) -> list[str]:
    """Eager's checks before a write. `late`: those that use values of the forward; nothing is written before them."""
    lines = []
    known, named = set(plan.functional.names.values()), numbers(plan)
    for check, needs in plan.checks:
        itself = any(link.is_itself for link in check.chain)
        if needs and late == (itself or plan.is_gated(needs) or not names_in(check.chain) <= known):
            view = linked(f"graph::some({check.input})", check.chain, plan.called, named, modes=True)
            flags = "".join(f" && {named(flag)}" for flag in check.flags if itself or flag in known)
            condition = f"({needs_text(needs)}){flags}" if flags else needs_text(needs)
            lines += [f"if ({condition}) {{", f"  torch::autograd::check_inplace({view}, true);", "}"]
    return lines


def dispatch(plan: GraphPlan) -> list[str]:
    """The statements that call a variant if inputs share memory."""
    lines = [line for variant in plan.variants for line in _variant(plan, variant)]
    named = ", ".join(place.name for place in plan.tensors)
    return [f"graph::check_tangents({quoted(plan.functional.function.name)}, {{{named}}});", *lines] if lines else []


def _variant(plan: GraphPlan, variant: Variant) -> list[str]:
    names = plan.functional.names
    sets = [[names[name] for name in members] for members in variant.shared]
    condition = " && ".join(f"graph::meet({{{', '.join(members)}}})" for members in sets)
    shared = {name for members in variant.shared for name in members}
    passed: list[str] = []
    changed = {name for name, _ in plan.functional.metadata}
    graph = quoted(plan.functional.function.name)
    distinct = [f"  graph::check_distinct({graph}, {{{', '.join(each)}}});" for each in sets if changed & {*each}]
    for members in sets:
        passed.append(f'graph::base_of("{plan.functional.function.name}", {{{", ".join(members)}}})')
        passed += [f"{name}.{part}" for name in members for part in ("sizes()", "strides()", "storage_offset()")]
    passed += [names[each.name] for each in plan.functional.function.inputs if each.name not in shared]
    call_ = f"{variant.plan.name}({', '.join(passed)})"
    back = [f"  {line}" for line in metadata(plan, shared)]  # the variant bumps versions
    outputs = plan.functional.outputs
    if not outputs:
        return [f"if ({condition}) {{", *distinct, f"  {call_};", *back, "  return;", "}"]
    lines = [f"if ({condition}) {{", *distinct, f"  auto shared_results = {call_};"]
    for i, each in enumerate(outputs):
        if isinstance(each, Shown) and each.is_input and not each.chain and isinstance(each.base, Ref):
            into = f"std::get<{i}>(shared_results)" if len(outputs) > 1 else "shared_results"
            lines.append(f"  {into} = {each.base.name};")
    return [*lines, *back, "  return shared_results;", "}"]


def metadata(plan: GraphPlan, only: Container[str] | None = None) -> list[str]:
    """The statements that mutate the metadata of inputs, as the source does; of the inputs `only`, None for all."""
    lines = []
    for name, link in plan.functional.metadata:
        if only is not None and name not in only:
            continue
        text = call(plan.original[link.identity], link.all_arguments(Ref(name)), numbers(plan))
        text = text.replace(f"({name}", f"(graph::mutable_({name})", 1)
        lines.append(f"{text};" if link.grad else f"graph::without_grad([&] {{ return {text}; }});")
    return lines


def bumps(plan: GraphPlan) -> list[str]:
    """The statements that bump the versions of inputs for metadata mutations of their views."""
    lines = []
    for name, conditions in plan.functional.bumped.items():
        lines += where(plan, conditions, [f"torch::autograd::impl::bump_version({name});"])
    return lines


def where(
    plan: GraphPlan, conditions: tuple[tuple[str, ...], ...], lines: list[str], otherwise: Sequence[str] = ()
) -> list[str]:
    """Lines under an `if` for any of some conditions: of a changed tensor that is a copy, the input stays as it is."""
    if () in conditions:
        return lines
    named = numbers(plan)
    either = " || ".join(f"({' && '.join(map(named, flags))})" for flags in dict.fromkeys(conditions))
    block = [f"if ({either}) {{", *(f"  {line}" for line in lines)]
    return [*block, *(["} else {", *(f"  {line}" for line in otherwise)] if otherwise else []), "}"]


def numbers(plan: GraphPlan) -> Callable[[str], str]:
    """The wrapper's expressions for values: an input by its name, any other value as a result of the forward."""
    known = set(plan.functional.names.values())
    return lambda name: name if name in known or name == "\0" else f"results.{name}"
