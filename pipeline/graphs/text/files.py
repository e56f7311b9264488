"""The files of graphs: a header and a source for each file of functions, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.families.family import generated_comment
from pipeline.families.nodes import text as node_text
from pipeline.families.sections import Text
from pipeline.graphs.backward.program import CallBlock
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text import backward, forward, wrapper
from pipeline.graphs.text.registered import registration
from pipeline.graphs.text.values import NUMBER_TYPES
from pipeline.releases.model import Release

_TEXT = Text("../graphs/text/graph.cpp")
RUNTIME = "graph.h"
_RUNTIME_TEXT = (Path(__file__).parent / RUNTIME).read_text(encoding="utf-8")
SUPPORT = (RUNTIME,)
SUPPORT_TEMPLATES = ("graph_formulas.h", "core_helpers.h")


def support_text(name: str, release: Release) -> str:
    """The text of a file that all graphs share."""
    assert name == RUNTIME
    return f"// {generated_comment('graphs', name)}\n{_RUNTIME_TEXT}"


def function_text(plan: GraphPlan, namespace: str, release: Release) -> str:
    """The whole C++ of one graph."""
    return "".join(_text(each, release) for each in (*(variant.plan for variant in plan.variants), plan))


def _text(plan: GraphPlan, release: Release) -> str:
    text, name = _TEXT.of(release), plan.functional.function.name
    found = text["forward"].fill(_forward(plan, name))
    if plan.backward.blocks or any(each.needs for each in plan.returned):
        found += text["backward"].fill(_backward(plan, name, release))
    return found + text["wrapper"].fill(_wrapper(plan, name, release))


def _forward(plan: GraphPlan, name: str) -> dict[str, object]:
    numbers = _number_results(plan)
    function = plan.functional.function
    names = plan.functional.names
    return {
        "name": name,
        "doc": function.doc or "straight-line",
        "count": max(len(plan.tensors), 1),
        "tensors": ", ".join(place.name for place in plan.tensors) or "none",
        "saved": _saved(plan),
        "results": [f"{_results_type(r.listed)} {r.name};" for r in plan.returned] + [f"{t} {n};" for n, t in numbers],
        "parameters": [f"[[maybe_unused]] {wrapper.inner(plan, i)} {names[i.name]}," for i in function.inputs],
        "forward": forward.statements(plan),
        "returned": ", ".join([forward.tensor(r.value) for r in plan.returned] + [n for n, _ in numbers]),
    }


def _results_type(listed: bool) -> str:
    return "std::vector<at::Tensor>" if listed else "at::Tensor"


def _number_results(plan: GraphPlan) -> list[tuple[str, str]]:
    """Numbers that the forward computes and the wrapper needs."""
    made = {
        s.result.name: NUMBER_TYPES[s.result.type] for s in plan.functional.steps if type(s).__name__ == "Number"
    }
    for step in plan.functional.steps:
        for result in getattr(step, "results", ()):
            if not result.type.startswith("Tensor"):
                made[result.name] = NUMBER_TYPES[result.type]
    lines = " ".join([*wrapper.views_and_return(plan)[0], wrapper.views_and_return(plan)[1], *wrapper.metadata(plan)])
    return [(name, type_) for name, type_ in made.items() if forward.identifiers.uses(lines, name)]


def _saved(plan: GraphPlan) -> list[str]:
    kept = plan.backward
    lines = [
        f"{'std::vector<at::Tensor>' if t.how == 'list' else 'at::Tensor'} {t.name};"
        for t in kept.tensors
        if t.how not in ("input", "output")
    ]
    for attribute in kept.attributes:
        node = plan.nodes[plan.functional.steps[attribute.step].identity]  # type: ignore[union-attr]
        saved = next(s for s in node.saved if s.name == attribute.attribute.name)
        lines += [line.format(name=attribute.name) for line in saved.how.fields if "_released_" not in line]
    lines += [f"{forward.MEMBER_TYPES[mark.kind]} {mark.name}{' = 0' if mark.kind == 'length' else ''};" for mark in kept.marks]
    return lines + [f"{NUMBER_TYPES[n.type]} {n.name}{{}};" for n in kept.numbers]


def _visible(plan: GraphPlan) -> list[str]:
    return [t.name for t in plan.backward.tensors if t.how in ("input", "output")]


def _backward(plan: GraphPlan, name: str, release: Release) -> dict[str, object]:
    lists = [place for place in plan.tensors if place.type.endswith("]")]
    outputs = {t.name for t in plan.backward.tensors if t.how == "output"}
    visible = _visible(plan)
    unpacked = [
        f"const at::Tensor {n} = this->{n}.unpack({release.self_pointer if n in outputs else ''});" for n in visible
    ]
    return {
        "name": name,
        "gradients": ", ".join(each.name for each in plan.returned if each.needs) or "nothing",
        "visible": [f"[[maybe_unused]] const at::Tensor& {n}," for n in visible],
        "backward": backward.statements(plan),
        "found": ", ".join(
            f"graph::sized({backward_name(p)}, saved.length_{p.name})" if p in lists else backward_name(p) for p in plan.tensors
        ),
        "variables": [f"SavedVariable {n};" for n in visible],
        "sizes": [f"size_t {p.name}_size = 0;" for p in lists],
        "released": [f"{n}.reset_data();" for n in visible],
        "wanted": wrapper.edges(plan.tensors),
        "unpacked": unpacked,
        "passed": ", ".join(["grads", "saved", *visible, "needs", "needed"]),
    }


def backward_name(place: object) -> str:
    return f"grad_of_{place.name}"  # type: ignore[attr-defined]


def _wrapper(plan: GraphPlan, name: str, release: Release) -> dict[str, object]:
    views, returned = wrapper.views_and_return(plan)
    return {
        "name": name,
        "type": wrapper.result_type(plan),
        "declared": ",\n    ".join(wrapper.parameters(plan)),
        "guards": [*wrapper.dispatch(plan), *wrapper.guards(plan)],
        "needs": ", ".join(f"graph::needs_grad({place.name})" for place in plan.tensors),
        "checks": wrapper.checks(plan),
        "given": "".join(f"{text}, " for text in wrapper.passed(plan)),
        "history": _history(plan, name, release),
        "updates": wrapper.updates(plan),
        "views": views,
        "metadata": wrapper.metadata(plan),
        "return": returned,
    }


def _history(plan: GraphPlan, name: str, release: Release) -> str:
    needs = frozenset(place for each in plan.returned for place in each.needs)
    if not needs:
        return ""
    parts = wrapper.history(plan)
    return _TEXT.of(release)["history"].fill(
        {
            "name": name,
            "any": forward.needs_text(needs),
            "inputs": ", ".join(place.name for place in plan.tensors),
            "sizes": [f"node->{p.name}_size = {p.name}.size();" for p in plan.tensors if p.type.endswith("]")],
            **parts,
        }
    )


# ---- files


def header(plans: Sequence[GraphPlan], stem: str, comment: str, namespace: str, release: Release) -> str:
    """The header of a file of functions."""
    declared = [
        f"{wrapper.result_type(plan)} {plan.functional.function.name}({', '.join(wrapper.parameters(plan))});"
        for plan in plans
    ]
    return _TEXT.of(release)["header"].fill({"comment": comment, "namespace": stem, "declarations": declared})


def source(plans: Sequence[GraphPlan], stem: str, comment: str, namespace: str, release: Release) -> str:
    """The source: the formulas used, each once, and all functions."""
    formulas: dict[str, str] = {}
    for plan in (each for one in plans for each in (one, *(variant.plan for variant in one.variants))):
        formulas |= formulas_of(plan, release)
    own = ""
    if formulas:
        section = _TEXT.of(release)["own_formulas"]
        own = section.fill({"namespace": "gradmill::formulas", "functions": list(formulas.values())})
    return _TEXT.of(release)["source"].fill(
        {
            "comment": comment,
            "header": f"{stem}.h",
            "formulas": _formula_headers(plans),
            "includes": [f"#include <{each}>" for each in _includes(plans)],
            "definitions": own,
            "namespace": stem,
            "functions": "\n".join(function_text(plan, namespace, release) for plan in plans),
            "library": namespace,
            "registered": [registration(plan, stem) for plan in plans],
        }
    )


def _includes(plans: Sequence[GraphPlan]) -> list[str]:
    return sorted({s.header for plan in plans for s in (*plan.called.values(), *plan.original.values())})


def _formula_headers(plans: Sequence[GraphPlan]) -> list[str]:
    """What declares the formulas' helpers, or the Nodes of the library, as far as there are any."""
    every = [each for plan in plans for each in (plan, *(variant.plan for variant in plan.variants))]
    styles = {b.style for plan in every for b in plan.backward.blocks if isinstance(b, CallBlock)}
    found = {"own": '#include "graph_formulas.h"', "library": "#include <torch/csrc/autograd/generated/Functions.h>"}
    return [line for style, line in found.items() if style in styles]


def formulas_of(plan: GraphPlan, release: Release) -> dict[str, str]:
    """The backward functions that a graph calls, by Node: what the Nodes are printed with."""
    found = {}
    for block in plan.backward.blocks:
        if isinstance(block, CallBlock) and block.style == "own":
            definition = node_text.definition(plan.nodes[block.step.identity], release)
            found[block.node] = definition.partition("\n}\n")[0] + "\n}"
    return found
