"""Generates the C++ of one graph: its forward, its backward and Node, its wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pipeline.families.sections import Text
from pipeline.families.template import Value as Filled
from pipeline.graphs.functional.names import identifier
from pipeline.graphs.functional.program import values_of
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text import backward, forward, guards, wrapper
from pipeline.graphs.text.expressions.literals import INITIAL, NUMBER_TYPES, Named, plain, quoted
from pipeline.graphs.text.expressions.values import tensor
from pipeline.graphs.text.saved import MEMBER_TYPES, needs_text, tensor_type
from pipeline.releases.model import Release

_OPENED = re.compile(r"\{\n\n+")  # left by empty template placeholders, as are blank lines within braces
_WITHIN = re.compile(r"\n\n+(?= |\};?\n)")
_WORD = re.compile(r"\w+")
_GAPS = re.compile(r"\n{3,}")
TEXT = Text("../graphs/text/graph.cpp")
_TYPES = re.findall(r"(?m)^(?:struct|using) \$\{name\}_(\w+)", Path(__file__).with_name("graph.cpp").read_text("utf-8"))
_GENERATED = re.compile(rf"(\w+?)_(?:shared_\d+|(?:shared_\d+_)?(?:{'|'.join(_TYPES)}))")


def taken(functions: Iterable[str]) -> dict[str, str]:
    """The functions of a file that another one's C++ has a type, or a variant, of the name of; each with that one."""
    by_name = {identifier(each): each for each in functions}
    generated = ((each, _GENERATED.fullmatch(name)) for name, each in by_name.items())
    return {each: by_name[match[1]] for each, match in generated if match is not None and match[1] in by_name}


def function_text(plan: GraphPlan, release: Release) -> str:
    """The C++ of one graph, its branches and its variants."""
    return tidied("".join(_text(each, release) for each in plan.functions))


def _text(plan: GraphPlan, release: Release) -> str:
    text, name = TEXT.of(release), plan.name
    given = forward_values(plan, name, release)
    cpp = text["structs"].fill({**given, "opened": "namespace {"}) + text["forward"].fill(given)
    if has_backward(plan):
        given = backward_values(plan, name)
        cpp += text["backward"].fill(given)
    return cpp + text["wrapper"].fill({**wrapper_values(plan, name, release), "closed": "} // namespace"})


def tidied(text: str) -> str:
    """C++ without the gaps that empty holes leave."""
    return _GAPS.sub("\n\n", _WITHIN.sub("\n", _OPENED.sub("{\n", text)))


def has_backward(plan: GraphPlan) -> bool:
    """Whether a graph has a backward, and a Node."""
    return bool(plan.backward.blocks) or any(each.needs for each in plan.returned)


def forward_values(plan: GraphPlan, name: str, release: Release) -> dict[str, Filled]:
    """What the sections `structs` and `forward` are filled with."""
    numbers = number_results(plan)
    function = plan.functional.function
    names = plan.functional.names
    return {
        "name": name,
        "doc": function.doc or "straight-line",
        "given_needs": forward_needs(plan),
        "unions": _unions(plan, name, release),
        "saved": _saved(plan),
        "results": [f"{tensor_type(listed=r.listed)} {r.name};" for r in plan.returned]
        + [f"{t} {n};" for n, t in numbers],
        "parameters": [f"{guards.inner(i)} {names[i.name]}," for i in function.inputs],
        "forward": forward.statements(plan),
        "returned": returned(plan, plain),
    }


def returned(plan: GraphPlan, named: Named) -> str:
    """The expressions for the results of the forward. `named`: that of each name."""
    texts = [tensor(each.value, named) for each in plan.returned]
    texts = [f"graph::cut({text})" for text in texts] if _is_recorded(plan) else texts
    return ", ".join([*texts, *(named(name) for name, _ in number_results(plan))])


def _is_recorded(plan: GraphPlan) -> bool:
    """Whether autograd records the forward, if an input needs a gradient."""
    return plan.once == "" and bool(plan.history)


def forward_needs(plan: GraphPlan) -> str:
    """The type of the needs of a forward, which decides gates."""
    return "graph::Needs&" if plan.gates else "const graph::Needs&"


def _unions(plan: GraphPlan, name: str, release: Release) -> str:
    """The function that computes the places of unions, if there are any."""
    places = enumerate(plan.unions, len(plan.tensors) + len(plan.gates))
    lines = [f"needs[{place}] = {needs_text(parts)};" for place, parts in places]
    return TEXT.of(release)["unions"].fill({"name": name, "unions": lines}) if lines else ""


def _unite(plan: GraphPlan, name: str) -> list[str]:
    return [f"{name}_unite(needs);"] if plan.unions else []


def _supposed(plan: GraphPlan, name: str) -> list[str]:
    """The statements before a forward that open all gates: what is saved before a gate is decided may be needed."""
    lines = []
    for gate in plan.gates.values():
        lines += [f"needs[{gate.place}] = {needs_text(gate.needs)};", *_unite(plan, name)]
    return lines


def _gated(plan: GraphPlan, name: str) -> list[str]:
    """The statements of a Node that compute gates: as in the forward, of those inputs that want a gradient."""
    lines = []
    for value, gate in plan.gates.items():
        lines += [f"needs[{gate.place}] = saved.gate_{value} && ({needs_text(gate.needs)});", *_unite(plan, name)]
    return lines


def number_results(plan: GraphPlan) -> list[tuple[str, str]]:
    """The numbers that the forward computes and the wrapper uses, each with its C++ type."""
    computed = (each for step in plan.functional.steps for each in values_of(step).items())
    types = {name: NUMBER_TYPES[type_] for name, type_ in computed if not type_.startswith("Tensor")}
    views, late, returned = wrapper.views_and_return(plan)
    lines = " ".join(
        [
            *views,
            *late,
            returned,
            *guards.checks(plan, late=True),
            *guards.bumps(plan),
            *guards.metadata(plan),
            *wrapper.updates(plan),
        ]
    )
    words = set(_WORD.findall(lines))
    return [(name, type_) for name, type_ in types.items() if name in words]


def _saved(plan: GraphPlan) -> list[str]:
    backward = plan.backward
    lines = [
        f"{tensor_type(listed=t.how == 'list')} {t.name};" for t in backward.tensors if t.how not in ("input", "output")
    ]
    for attribute in backward.attributes:
        node = plan.nodes[plan.functional.steps[attribute.step].identity]  # type: ignore[union-attr]
        saved = next(s for s in node.saved if s.name == attribute.attribute.name)
        lines += [line.format(name=attribute.name) for line in saved.how.fields if "_released_" not in line]
    lines += [
        f"{MEMBER_TYPES[mark.kind]} {mark.name}{' = 0' if mark.kind == 'length' else ''};" for mark in backward.marks
    ]
    lines += [f"bool gate_{name} = false;" for name in plan.gates]
    numbers = [(NUMBER_TYPES[each.type], each.name) for each in backward.numbers]
    return lines + [f"{type_} {name}{INITIAL.get(type_, '{}')};" for type_, name in numbers]


def visible_names(plan: GraphPlan) -> list[str]:
    """The tensors that the Node keeps as SavedVariables."""
    return [t.name for t in plan.backward.tensors if t.how in ("input", "output")]


def backward_values(plan: GraphPlan, name: str) -> dict[str, Filled]:
    """What the section `backward` is filled with."""
    return {
        "name": name,
        "gradients": ", ".join(each.name for each in plan.returned if each.needs) or "nothing",
        "opened": [
            f"[[maybe_unused]] auto& saved = static_cast<{name}_saved&>(all);",
            *_unite(plan, name),
            *_gated(plan, name),
            *(f"const at::Tensor& {n} = kept[{i}];" for i, n in enumerate(visible_names(plan))),
        ],
        "backward": backward.statements(plan),
        "found": ", ".join(
            f"graph::sized(grad_of_{p.name}, saved.length_{p.name})" if p.type.endswith("]") else f"grad_of_{p.name}"
            for p in plan.tensors
        ),
    }


def _made(plan: GraphPlan, name: str) -> str:
    """The expression for a new Node: why its backward cannot be differentiated comes last, if it cannot."""
    places, kept = _places(plan), len(visible_names(plan))
    why = [] if plan.once == "" else [quoted(plan.once) if plan.once else "graph::ONCE"]
    inputs = f"{{{', '.join(place.name for place in plan.tensors)}}}"
    passed = [quoted(name), f"{name}_backward", "std::move(saved)", inputs, str(places), str(kept), *why]
    return f"graph::make_node({', '.join(passed)})"


def _places(plan: GraphPlan) -> int:
    return len(plan.tensors) + len(plan.gates) + len(plan.unions)


def wrapper_values(plan: GraphPlan, name: str, release: Release) -> dict[str, Filled]:
    """What the section `wrapper` is filled with."""
    views, late, returned = wrapper.views_and_return(plan)
    return {
        "name": name,
        "type": guards.result_type(plan),
        "declared": ",\n".join(guards.parameters(plan)),
        "guards": [*wrapper.grad_mode(plan), *guards.dispatch(plan), *guards.guards(plan)],
        "needs": _needs_of(plan),
        "unite": _unite(plan, name) + _supposed(plan, name),
        "checks": guards.checks(plan, late=False),
        "late_checks": guards.checks(plan, late=True),
        "results": _results(plan, name),
        "history": _history(plan, name, release),
        "updates": wrapper.updates(plan),
        "views": views,
        "metadata": [*guards.bumps(plan), *guards.metadata(plan), *late, *_late(plan)],
        "return": returned,
    }


def _needs_of(plan: GraphPlan) -> str:
    """The arguments of the function that asks which inputs need a gradient."""
    inputs, more = ", ".join(place.name for place in plan.tensors), _places(plan) - len(plan.tensors)
    return f"{quoted(plan.functional.function.name)}, {{{inputs}}}{f', {more}' if more else ''}"


def _results(plan: GraphPlan, name: str) -> list[str]:
    """The statement that runs the forward."""
    names = plan.functional.names
    passed = dict(zip((names[each.name] for each in plan.functional.function.inputs), guards.passed(plan)))
    if _is_recorded(plan):  # what autograd saves has to stay as it is
        passed |= {changed: f"graph::unchanged({passed[changed]})" for changed in plan.functional.changed}
    given = "".join(f"{text}, " for text in passed.values())
    recorded = f", {needs_text(plan.history)}" if _is_recorded(plan) else ""
    call = f"graph::run([&] {{ return {name}_forward({given}needs, saved); }}{recorded});"
    return [f"const auto results = {call}" if plan.returned or number_results(plan) else call]


def _history(plan: GraphPlan, name: str, release: Release) -> str:
    if not plan.history:
        return ""
    parts = wrapper.history(plan)
    outside, node = (["graph::NodePointer<graph::GraphNode> node;"], "node") if parts["late"] else ([], "auto node")
    return TEXT.of(release)["history"].fill(
        {
            "opened": [*outside, f"if ({needs_text(plan.history)}) {{", f"  {node} = {_made(plan, name)};"],
            "outputs": parts["outputs"],
            "variables": parts["variables"],
        }
    )


def _late(plan: GraphPlan) -> list[str]:
    lines = wrapper.history(plan)["late"]
    return ["if (node) {", *(f"  {line}" for line in lines), "}"] if lines else []
