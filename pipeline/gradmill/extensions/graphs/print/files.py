"""Generates the files of graphs: a header and a source for each file of functions, and the shared headers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gradmill.extensions.graphs.arguments import arguments, schema_text
from gradmill.extensions.graphs.model import Function, GraphError
from gradmill.extensions.graphs.operator import branches
from gradmill.extensions.graphs.passes.functionalize.bases import sharings
from gradmill.extensions.graphs.passes.functionalize.names import may_be_macro, namespace_of
from gradmill.extensions.graphs.passes.gradients import CallBlock
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import guards
from gradmill.extensions.graphs.print.expressions import quoted
from gradmill.extensions.graphs.print.function import TEXT, function_text
from gradmill.extensions.graphs.print.large import CALLS, DECLARATIONS, large_pieces
from gradmill.families.family import generated_comment
from gradmill.families.nodes import text as node_text
from gradmill.families.sections import Text
from gradmill.families.template import Value
from gradmill.releases import KNOWN, is_at_least, minor
from gradmill.releases.model import Release

RUNTIME = "graph.h"
FORMULAS = "graph_formulas.h"  # the helpers of formulas; a set's template of this name replaces it
STATES = "graph_state.h"  # for programs: files of a model's state
SUPPORT = (RUNTIME, FORMULAS)
SHARED = (*SUPPORT, STATES, "core_helpers.h")  # the headers in the folder, those of sets among them
_RUNTIME = Text("../extensions/graphs/print/graph.h")
_TEXTS = {name: (Path(__file__).parent / name).read_text(encoding="utf-8") for name in (FORMULAS, STATES)}


def support_text(name: str, release: Release) -> str:
    """The text of `name`, a file that all graphs share."""
    if name == RUNTIME:
        text, once = _RUNTIME.body("runtime", "2.10", release.version), "#pragma once\n\n"
        text = text.replace(once, f"{once}{_headers(release)}\n", 1)
    else:
        text = _TEXTS[name]
    return f"// {generated_comment('graphs', name)}\n{text}"


def _headers(release: Release) -> str:
    """The C++ that refuses the headers of an older release than that of the graphs."""
    text, wanted = TEXT.of(release), minor(release.version)
    major, _, number = wanted.partition(".")
    values = {"major": major, "minor": number, "release": wanted}
    older = [minor(each) for each in KNOWN if not is_at_least(each, wanted)]
    errors = [text["older"].fill({**values, "older": each, "number": each.partition(".")[2]}) for each in older]
    return text["headers"].fill({**values, "errors": "".join(errors)})


# ---- pieces and sources

SIZE = 500  # of one source: less than a megabyte
_WHOLE = "graph"


def function_pieces(plan: GraphPlan, release: Release) -> dict[str, str]:
    """The C++ of a function and its variants: in one piece, or in several if it is too large for one source."""
    if weight(plan.functional.function) <= SIZE:
        return {_WHOLE: function_text(plan, release)}
    return large_pieces(plan, release)


def of_function(pieces: Mapping[str, str]) -> dict[str, str]:
    """The pieces other than formulas, which are keyed by the names of Nodes; and what each one calls."""
    own = {name: text for name, text in pieces.items() if name in (_WHOLE, DECLARATIONS) or "/" in name}
    return own | {f"{_WHOLE}{CALLS}": " ".join(name for name in pieces if name not in own)}


def weight(function: Function) -> int:
    """The size of a function's C++, in all of its variants at most: a call is about a kilobyte, an input about two."""
    try:
        variants = len(sharings(function, [each.name for each in function.inputs]))
    except GraphError:
        variants = 0  # an error of the function
    return _size(function) * (1 + variants) + sum(map(_size, branches(function)))


def _size(function: Function) -> int:
    return len(function.calls) + 2 * len(function.inputs)


def parts_of(functions: Iterable[Function]) -> list[str]:
    """The endings of the files that a file of functions needs beyond a header and a source."""
    count = math.ceil(sum(map(weight, functions)) / SIZE)
    return [PARTS, *(f".{number}.cpp" for number in range(2, count + 1))] if count > 1 else []


Source = list[tuple[str, str]]  # pieces, each with the Nodes that it calls


def packed(pieces: Iterable[Mapping[str, str]], count: int) -> list[Source]:
    """The pieces of functions in `count` sources of similar sizes, in order."""
    every = [
        (text, own.get(f"{name}{CALLS}", ""))
        for own in pieces
        for name, text in own.items()
        if name != DECLARATIONS and not name.endswith(CALLS)
    ]
    share = sum(len(text) for text, _ in every) / count
    sources: list[Source] = [[]]
    size = 0
    for i, piece in enumerate(every):
        full = size + len(piece[0]) / 2 > share * len(sources) or len(every) - i <= count - len(sources)
        if sources[-1] and full and len(sources) < count:
            sources.append([])
        sources[-1].append(piece)
        size += len(piece[0])
    return sources + [[]] * (count - len(sources))


# ---- files


def header(plans: Sequence[GraphPlan], stem: str, comment: str, release: Release) -> str:
    """The header of the file of functions `stem`; `comment` is its first line."""
    declared = [f"{guards.result_type(plan)} {plan.name}({', '.join(guards.parameters(plan))});" for plan in plans]
    return TEXT.of(release)["header"].fill(
        {"comment": comment, "namespace": namespace_of(stem), "declarations": declared}
    )


def source(plans: Sequence[GraphPlan], stem: str, comment: str, namespace: str, release: Release) -> str:
    """The source of a file of functions: the formulas in use, each once, and all functions.

    `namespace` is the namespace of the registered operators.
    """
    formulas: dict[str, str] = {}
    for plan in _functions(plans):
        formulas |= formulas_of(plan, release)
    return TEXT.of(release)["source"].fill(
        {
            **_including(plans, stem, comment),
            "definitions": _own_formulas(formulas, release),
            "functions": "\n".join(function_text(plan, release) for plan in plans),
            "library": _library(namespace),
            "registered": [registration(plan, stem) for plan in plans],
        }
    )


PARTS = ".parts.h"  # the header of the sources of one file of functions


def parts_header(
    plans: Sequence[GraphPlan], pieces: Iterable[Mapping[str, str]], stem: str, comment: str, release: Release
) -> str:
    """The header that all sources of a file of functions include."""
    declared = "\n".join(own[DECLARATIONS] for own in pieces if DECLARATIONS in own)
    return TEXT.of(release)["parts_header"].fill({**_including(plans, stem, comment), "functions": declared})


def part(
    plans: Sequence[GraphPlan],
    pieces: Sequence[Mapping[str, str]],
    which: tuple[int, int],
    stem: str,
    comment: str,
    namespace: str,
    release: Release,
) -> str:
    """One of several sources of a file: its number, from 1, and their count. The first one registers the operators."""
    number, count = which
    own, text = packed(pieces, count)[number - 1], TEXT.of(release)
    called = {node for _, nodes in own for node in nodes.split()}
    every = (each for plan in _functions(plans) for each in formulas_of(plan, release).items())
    used = {node: formula for node, formula in every if node in called}
    registered = {"library": _library(namespace), "registered": [registration(plan, stem) for plan in plans]}
    return text["part"].fill(
        {
            "comment": comment,
            "header": f"{stem}{PARTS}",
            "definitions": _own_formulas(used, release),
            "namespace": namespace_of(stem),
            "functions": "\n".join(piece for piece, _ in own),
            "registration": text["registration"].fill(registered) if number == 1 else "",
        }
    )


def _library(namespace: str) -> list[str]:
    """The beginning of a registration in a namespace, which a macro of that name would replace."""
    undefined = [f"#undef {namespace}"] if may_be_macro(namespace) else []
    return [*undefined, f"TORCH_LIBRARY_FRAGMENT({namespace}, m) {{"]


def _functions(plans: Sequence[GraphPlan]) -> list[GraphPlan]:
    return [each for plan in plans for each in plan.functions]


def _own_formulas(formulas: Mapping[str, str], release: Release) -> str:
    if not formulas:
        return ""
    section = TEXT.of(release)["own_formulas"]
    return section.fill({"namespace": "gradmill::formulas", "functions": list(formulas.values())})


def _including(plans: Sequence[GraphPlan], stem: str, comment: str) -> dict[str, Value]:
    """The head of a file that includes what the graphs use: operators, the formulas' helpers, Nodes of the library."""
    every = (each for plan in _functions(plans) for each in plan.operators.values() if each.callee is None)
    operators = {signature.header for each in every for signature in (each.called, each.original)}
    styles = {b.style for plan in _functions(plans) for b in plan.backward.blocks if isinstance(b, CallBlock)}
    formulas = {"own": f'#include "{FORMULAS}"', "library": "#include <torch/csrc/autograd/generated/Functions.h>"}
    return {
        "comment": comment,
        "header": f"{stem}.h",
        "formulas": [line for style, line in formulas.items() if style in styles],
        "includes": [f"#include <{each}>" for each in sorted(operators)],
        "namespace": namespace_of(stem),
    }


def formulas_of(plan: GraphPlan, release: Release) -> dict[str, str]:
    """The backward functions that a graph calls, by Node: the same text as in the family of Nodes."""
    functions = {}
    for block in plan.backward.blocks:
        if isinstance(block, CallBlock) and block.style == "own":
            formula = plan.operators[block.step.identity].formula
            functions[block.node] = node_text.gradient_function(formula, release).rstrip()
    return functions


# ---- registration


def registration(plan: GraphPlan, stem: str) -> str:
    """The statement that registers a graph."""
    function = f"gradmill::graphs::{namespace_of(stem)}::{plan.name}"
    own, names = plan.functional.function, plan.functional.names
    packed, changed = arguments(own), {*plan.functional.written, *(name for name, _ in plan.functional.metadata)}
    schema = quoted(schema_text(own.name, own, packed, {name for name, called in names.items() if called in changed}))
    if not any(argument.role for argument in packed):
        return f"m.def({schema}, {function});"
    parameters, checks = [], []
    passed: dict[str, str] = {}
    for argument in packed:
        if argument.role:
            parameters.append(f"at::TensorList {argument.role}")
            checks.append(
                f"gradmill::graph::check_count({quoted(own.name)}, "
                f"{quoted(argument.role)}, {argument.role}, {len(argument.inputs)});"
            )
            passed |= {input_.name: f"{argument.role}[{i}]" for i, input_ in enumerate(argument.inputs)}
        else:
            (input_,) = argument.inputs
            name = names[input_.name]
            parameters.append(f"{guards.passed_type(input_.type)} {name}")
            passed[input_.name] = name
    call = f"{function}({', '.join(passed[input_.name] for input_ in own.inputs)})"
    body = " ".join([*checks, f"return {call};"])
    return f"m.def({schema}, []({', '.join(parameters)}) {{ {body} }});"
