"""Generates the files of graphs: a header and a source for each file of functions, and the shared headers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.families.family import generated_comment
from pipeline.families.nodes import text as node_text
from pipeline.graphs.backward.program import CallBlock
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text import guards
from pipeline.graphs.text.function import TEXT, function_text
from pipeline.graphs.text.registered import registration
from pipeline.releases.model import Release

RUNTIME = "graph.h"
FORMULAS = "graph_formulas.h"  # the helpers of formulas; a set's template of this name replaces it
_TEXTS = {name: (Path(__file__).parent / name).read_text(encoding="utf-8") for name in (RUNTIME, FORMULAS)}
SUPPORT = (RUNTIME, FORMULAS)


def support_text(name: str, release: Release) -> str:
    """The text of `name`, a file that all graphs share."""
    return f"// {generated_comment('graphs', name)}\n{_TEXTS[name]}"


# ---- files


def header(plans: Sequence[GraphPlan], stem: str, comment: str, namespace: str, release: Release) -> str:
    """The header of a file of functions, in the C++ namespace `stem`; `comment` is its first line."""
    declared = [f"{guards.result_type(plan)} {plan.name}({', '.join(guards.parameters(plan))});" for plan in plans]
    return TEXT.of(release)["header"].fill({"comment": comment, "namespace": stem, "declarations": declared})


def source(plans: Sequence[GraphPlan], stem: str, comment: str, namespace: str, release: Release) -> str:
    """The source of a file of functions: the formulas in use, each once, and all functions.

    `namespace` is the namespace of the registered operators.
    """
    formulas: dict[str, str] = {}
    for plan in (each for one in plans for each in (one, *(variant.plan for variant in one.variants))):
        formulas |= formulas_of(plan, release)
    own = ""
    if formulas:
        section = TEXT.of(release)["own_formulas"]
        own = section.fill({"namespace": "gradmill::formulas", "functions": list(formulas.values())})
    return TEXT.of(release)["source"].fill(
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
    """The includes that declare the formulas' helpers and the Nodes of the library, if the graphs use them."""
    every = [each for plan in plans for each in (plan, *(variant.plan for variant in plan.variants))]
    styles = {b.style for plan in every for b in plan.backward.blocks if isinstance(b, CallBlock)}
    includes = {"own": f'#include "{FORMULAS}"', "library": "#include <torch/csrc/autograd/generated/Functions.h>"}
    return [line for style, line in includes.items() if style in styles]


def formulas_of(plan: GraphPlan, release: Release) -> dict[str, str]:
    """The backward functions that a graph calls, by Node: the same text as in the family of Nodes."""
    functions = {}
    for block in plan.backward.blocks:
        if isinstance(block, CallBlock) and block.style == "own":
            definition = node_text.definition(plan.nodes[block.step.identity], release)
            functions[block.node] = definition.partition("\n}\n")[0] + "\n}"
    return functions
