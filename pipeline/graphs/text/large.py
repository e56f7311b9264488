"""Generates the C++ of a graph that is too large for one source: declarations for all of its sources, and pieces.

A piece is a part of the forward or of the backward, or the functions that call the parts, with the wrapper.
"""

from __future__ import annotations

from pipeline.families.template import Value as Filled
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text import backward, forward, guards
from pipeline.graphs.text.function import (
    TEXT,
    backward_values,
    forward_needs,
    forward_values,
    has_backward,
    number_results,
    returned,
    tidied,
    visible_names,
    wrapper_values,
)
from pipeline.graphs.text.split import (
    Split,
    at_a_block,
    at_a_step,
    remade_types,
    returned_names,
    split,
    value_types,
)
from pipeline.releases.model import Release

DECLARATIONS = "declarations"  # the piece for the header that all sources of the graph include


def large_pieces(plan: GraphPlan, release: Release) -> dict[str, str]:
    """The C++ of a graph, its branches and its variants, in pieces by their names."""
    pieces: dict[str, str] = {DECLARATIONS: ""}
    for each in plan.functions:
        for name, text in _pieces(each, release).items():
            if name == DECLARATIONS:
                pieces[name] += text
            else:
                pieces[f"{each.name}/{name}"] = text
    return {name: tidied(text) for name, text in pieces.items()}


def _pieces(plan: GraphPlan, release: Release) -> dict[str, str]:
    text, name = TEXT.of(release), plan.name
    given = forward_values(plan, name, release)
    declared, pieces, calling = _forward(plan, given, release)
    declarations = text["structs"].fill({**given, "opened": ""}) + declared
    if has_backward(plan):
        given = backward_values(plan, name)
        declared, more, calling_backward = _backward(plan, given, release)
        declarations += declared
        pieces |= more
        calling += calling_backward
    wrapper = wrapper_values(plan, name, release)
    declarations += f"\n\n{wrapper['type']} {name}(\n    {wrapper['declared']});\n"
    return {DECLARATIONS: declarations, **pieces, "wrapper": calling + text["wrapper"].fill({**wrapper, "closed": ""})}


def _forward(plan: GraphPlan, given: dict[str, Filled], release: Release) -> tuple[str, dict[str, str], str]:
    """The declarations of the forward, its parts, and the function that calls them."""
    text, names = TEXT.of(release), plan.functional.names
    inputs = {names[each.name]: guards.inner(each) for each in plan.functional.function.inputs}
    used = {*returned_names(plan), *(name for name, _ in number_results(plan))}
    body = split(forward.statements(plan), inputs, value_types(plan), {}, used, at_a_step)
    filled: dict[str, Filled] = {
        **given,
        "inputs": [f"{type_} {name};" for name, type_ in inputs.items()],
        "values": body.members,
        "forwards": _declared(plan, "forward", body, release),
        "given": ", ".join(inputs),
        "calls": [f"{plan.name}_forward_{i}(inputs_, needs, saved, values_);" for i in range(1, len(body.parts) + 1)],
        "returned": returned(plan, body.named),
    }
    pieces = _parts(plan, "forward", body, release)
    return text["split_structs"].fill(filled), pieces, text["split_forward"].fill(filled)


def _backward(plan: GraphPlan, given: dict[str, Filled], release: Release) -> tuple[str, dict[str, str], str]:
    """The same of the backward."""
    text, visible = TEXT.of(release), visible_names(plan)
    statements, gradients = backward.after_declarations(plan), backward.gradients(plan)
    body = split(statements, visible, remade_types(plan), gradients, (), at_a_block)
    gradients_of_inputs = (
        f"graph::sized(values_.grad_of_{place.name}, saved.length_{place.name})"
        if place.type.endswith("]")
        else f"values_.grad_of_{place.name}"
        for place in plan.tensors
    )
    filled: dict[str, Filled] = {
        **given,
        "outputs": given["gradients"],
        "kept": [f"const at::Tensor& {name};" for name in visible],
        "gradients": body.members,
        "backwards": _declared(plan, "backward", body, release),
        "given": ", ".join(visible),
        "calls": [
            f"{plan.name}_backward_{i}(grads, saved, kept_, needs, needed, values_);"
            for i in range(1, len(body.parts) + 1)
        ],
        "given_back": ", ".join(gradients_of_inputs),
    }
    pieces = _parts(plan, "backward", body, release)
    return text["split_backward_structs"].fill(filled), pieces, text["split_backward"].fill(filled)


def _parts(plan: GraphPlan, kind: str, body: Split, release: Release) -> dict[str, str]:
    section = TEXT.of(release)[f"part_of_{kind}"]
    given = forward_needs(plan)
    return {
        f"{kind} {i}": section.fill({"name": plan.name, "number": i, "statements": statements, "given_needs": given})
        for i, statements in enumerate(body.parts, 1)
    }


def _declared(plan: GraphPlan, kind: str, body: Split, release: Release) -> list[str]:
    """The declarations of a body's parts."""
    parts = _parts(plan, kind, Split([[] for _ in body.parts], {}), release)
    return [f"{part.partition(' {')[0].strip()};" for part in parts.values()]
