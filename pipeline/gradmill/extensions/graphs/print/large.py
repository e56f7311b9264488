"""Generates the C++ of a graph that is too large for one source: declarations for all of its sources, and pieces.

A piece is a part of the forward or of the backward, or the functions that call the parts, with the wrapper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gradmill.extensions.graphs.ir import Code, Do, Let, Stmt, Title, code, uses, variable
from gradmill.extensions.graphs.passes.functionalize.program import names_in, values_of
from gradmill.extensions.graphs.passes.gradients import CallBlock
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import backward, forward, guards, wrapper
from gradmill.extensions.graphs.print.expressions import INITIAL
from gradmill.extensions.graphs.print.forward import result_type
from gradmill.extensions.graphs.print.function import (
    TEXT,
    Numbers,
    backward_values,
    braced,
    forward_needs,
    forward_values,
    found,
    in_braces,
    number_results,
    returned,
    wrapper_values,
)
from gradmill.extensions.graphs.print.statements import lines
from gradmill.extensions.graphs.print.styles import formula_name
from gradmill.families.template import Value as Filled
from gradmill.releases.model import Release

DECLARATIONS = "declarations"  # the piece for the header that all sources of the graph include
CALLS = " calls"  # ends the name of what lists the Nodes whose formulas a piece calls


def large_pieces(plan: GraphPlan, release: Release) -> dict[str, str]:
    """The C++ of a graph, its branches and its variants, in pieces by their names; the Nodes that each one calls."""
    pieces: dict[str, str] = {DECLARATIONS: ""}
    for each in plan.functions:
        for name, text in _pieces(each, release).items():
            if name == DECLARATIONS:
                pieces[name] += text
            else:
                pieces[f"{each.name}/{name}"] = text
    return pieces


def _pieces(plan: GraphPlan, release: Release) -> dict[str, str]:
    text, after = TEXT.of(release), wrapper.after_forward(plan)
    numbers = number_results(plan, after)
    given = forward_values(plan, numbers, release)
    declared, pieces, calling = _forward(plan, numbers, given, release)
    declarations = text["structs"].fill(given) + declared
    if plan.has_backward:
        declared, more, calling_backward = _backward(plan, release)
        declarations += declared
        pieces |= more
        calling += calling_backward
    filled = wrapper_values(plan, after, bool(numbers))
    declarations += f"\n{filled['type']} {plan.name}(\n    {filled['declared']});\n"
    return {DECLARATIONS: declarations, **pieces, "wrapper": calling + text["wrapper"].fill(filled)}


def _forward(
    plan: GraphPlan, numbers: Numbers, given: dict[str, Filled], release: Release
) -> tuple[str, dict[str, str], str]:
    """The declarations of the forward, its parts, and the function that calls them."""
    text, names, name = TEXT.of(release), plan.functional.names, plan.name
    inputs = {names[each.name]: guards.inner(each) for each in plan.functional.function.inputs}
    used = {*names_in(tuple(each.value for each in plan.returned)), *(number for number, _ in numbers)}
    computed = (each for step in plan.functional.steps for each in values_of(step).items())
    types = {name: result_type(type_) for name, type_ in computed}
    parts = split(forward.statements(plan), inputs, types, {}, used)
    heads = _heads(plan, "forward", len(parts.parts), release)
    body: list[Stmt] = [
        Do(code("const $_forward_inputs inputs_{$}", name, ", ".join(inputs))),
        Do(code("$_forward_values values_", name)),
        *(Do(code(f"{name}_forward_{i}(inputs_, needs, saved, values_)")) for i in range(1, len(heads) + 1)),
        returned(plan, numbers, parts.named),
    ]
    filled: dict[str, Filled] = {
        **given,
        "inputs": in_braces(f"{type_} {name};" for name, type_ in inputs.items()),
        "values": in_braces(parts.members),
        "forwards": [f"{head};" for head in heads],
        "body": braced(body),
    }
    return text["split_structs"].fill(filled), _parts("forward", heads, parts, release), text["forward"].fill(filled)


def _backward(plan: GraphPlan, release: Release) -> tuple[str, dict[str, str], str]:
    """The same of the backward."""
    text, visible, name = TEXT.of(release), [each.name for each in plan.backward.kept], plan.name
    types = {remade.name: result_type(remade.step.results[0].type) for remade in plan.backward.remade}
    parts = split(backward.statements(plan), visible, types, backward.gradients(plan), ())
    heads = _heads(plan, "backward", len(parts.parts), release)
    body: list[Stmt] = [
        Do(code("const $_backward_kept kept_{$}", name, ", ".join(visible))),
        Do(code("$_backward_gradients values_", name)),
        *(
            Do(code(f"{name}_backward_{i}(grads, saved, kept_, needs, needed, values_)"))
            for i in range(1, len(heads) + 1)
        ),
        found(plan, parts.named),
    ]
    filled: dict[str, Filled] = {
        **backward_values(plan, body),
        "kept": in_braces(f"const at::Tensor& {name};" for name in visible),
        "members": in_braces(parts.members),
        "backwards": [f"{head};" for head in heads],
    }
    pieces = _parts("backward", heads, parts, release)
    nodes = {formula_name(block.node): block.node for block in plan.backward.blocks if isinstance(block, CallBlock)}
    for i, statements in enumerate(parts.parts, 1):
        pieces[f"backward {i}{CALLS}"] = " ".join(nodes[name] for name in uses(statements) if name in nodes)
    return text["split_backward_structs"].fill(filled), pieces, text["backward"].fill(filled)


def _heads(plan: GraphPlan, kind: str, count: int, release: Release) -> list[str]:
    """The parts of a body up to their statements."""
    section = TEXT.of(release)[f"part_of_{kind}"]
    given = {"name": plan.name, "given_needs": forward_needs(plan)}
    return [section.fill({**given, "number": i}).strip() for i in range(1, count + 1)]


def _parts(kind: str, heads: list[str], body: Split, release: Release) -> dict[str, str]:
    section = TEXT.of(release)["part_body"]
    return {
        f"{kind} {i}": section.fill({"head": head, "body": braced(statements)})
        for i, (head, statements) in enumerate(zip(heads, body.parts), 1)
    }


# ---- parts


PART = 100_000  # characters of a part of a body


class Split(Struct, frozen=True):
    """A body in parts; the types of the values that cross parts."""

    parts: list[list[Stmt]]
    crossing: dict[str, str]

    @property
    def members(self) -> list[str]:
        """The members of the struct for the values that cross parts."""
        return [f"{type_} {name}{INITIAL.get(type_, '')};" for name, type_ in self.crossing.items()]

    def named(self, name: str) -> Code:
        """The expression for a value after the last part."""
        return _member("values_", name) if name in self.crossing else variable(name)


def split(
    statements: Iterable[Stmt],
    inputs: Iterable[str],
    types: Mapping[str, str],
    shared: Mapping[str, str],
    returned: Iterable[str],
) -> Split:
    """Splits a body: the forward before a step, the backward before any statement.

    `inputs`: the names of its arguments. `types`: the types of the values that statements declare. `shared`: those of
    variables that all parts may change. `returned`: the values that are used after the last part. A value that crosses
    parts may be freed by the last one.
    """
    chunks = _chunks([*statements])
    used = [uses(chunk).keys() for chunk in chunks]
    first = {name: i for i, names in reversed(list(enumerate(used))) for name in names & types.keys()}
    last = {name: i for i, names in enumerate(used) for name in names & types.keys()}
    last |= dict.fromkeys(set(returned) & first.keys(), len(chunks))
    crossing = {name: types[name] for name in types if name in first and last[name] > first[name]}
    parts, arguments = [], set(inputs)
    for i, (chunk, names) in enumerate(zip(chunks, used)):
        bound = [_bound(name, "inputs_", "const auto&") for name in sorted(names & arguments)]
        bound += [_bound(name, "values_", "auto&") for name in sorted(names & shared.keys())]
        earlier = (name for name in sorted(names & crossing.keys()) if first[name] < i)
        bound += [_bound(name, "values_", "auto&") for name in earlier]
        left = [Do(code("$ = $", _member("values_", name), variable(name))) for name in crossing if first[name] == i]
        parts.append([*bound, *chunk, *left])
    return Split(parts, {**crossing, **shared})


def _member(struct: str, name: str) -> Code:
    return code("$.$", struct, name)


def _bound(name: str, struct: str, type_: str) -> Stmt:
    return Let(f"[[maybe_unused]] {type_}", (name,), _member(struct, name))


def _chunks(statements: Sequence[Stmt]) -> list[list[Stmt]]:
    has_steps = any(isinstance(each, Title) for each in statements)
    chunks: list[list[Stmt]] = [[]]
    size = 0
    for each in statements:
        if size > PART and (isinstance(each, Title) or not has_steps):
            chunks.append([])
            size = 0
        chunks[-1].append(each)
        size += sum(len(line) + 1 for line in lines([each]))
    return chunks
