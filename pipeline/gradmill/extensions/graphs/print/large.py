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
    inputs = {name: guards.inner(input_) for name, input_ in plan.functional.inputs.items()}
    used = {*names_in(tuple(each.value for each in plan.returned)), *(number for number, _ in numbers)}
    computed = (each for step in plan.functional.steps for each in values_of(step).items())
    types = {name: result_type(type_) for name, type_ in computed}
    parts = split(forward.statements(plan), inputs, types, {}, used)
    body = _calls(plan, "forward", parts, inputs, returned(plan, numbers, parts.named))
    pieces = _in_parts(plan, "forward", parts, inputs, {**given, "body": braced(body)}, release)
    if plan.has_backward:
        kept = dict.fromkeys((each.name for each in plan.backward.kept), "const at::Tensor&")
        types = {remade.name: result_type(remade.step.results[0].type) for remade in plan.backward.remade}
        parts = split(backward.statements(plan), kept, types, backward.gradients(plan), ())
        body = _calls(plan, "backward", parts, kept, found(plan, parts.named))
        more = _in_parts(plan, "backward", parts, kept, backward_values(plan, body), release)
        joined = {name: pieces[name] + more[name] for name in (DECLARATIONS, "wrapper")}
        pieces = {**pieces, **more, **joined}
    filled = wrapper_values(plan, after, bool(numbers))
    declared = f"\n{filled['type']} {plan.name}(\n    {filled['declared']});\n"
    declarations = text["structs"].fill(given) + pieces.pop(DECLARATIONS) + declared
    called = pieces.pop("wrapper") + text["wrapper"].fill(filled)
    return {DECLARATIONS: declarations, **pieces, "wrapper": called}


# The names of the struct of arguments and of that of values; what is passed to the parts.
_PASSED = {
    "forward": ("inputs", "values", "inputs_, needs, saved, values_"),
    "backward": ("kept", "gradients", "grads, saved, kept_, needs, needed, values_"),
}


def _calls(plan: GraphPlan, kind: str, parts: Split, inputs: Iterable[str], end: Stmt) -> list[Stmt]:
    """The body of the function that calls the parts of a forward or a backward. `end`: its last statement."""
    name, (arguments, values, passed) = f"{plan.name}_{kind}", _PASSED[kind]
    return [
        Do(code("const $_$ $_{$}", name, arguments, arguments, ", ".join(inputs))),
        Do(code("$_$ values_", name, values)),
        *(Do(code("$_$($)", name, str(i), passed)) for i in range(1, len(parts.parts) + 1)),
        end,
    ]


def _in_parts(
    plan: GraphPlan, kind: str, parts: Split, inputs: Mapping[str, str], filled: Mapping[str, Filled], release: Release
) -> dict[str, str]:
    """The pieces of a forward or a backward: declarations, parts, and as "wrapper" the function that calls them.
    `inputs`: the types of its arguments, by name. `filled`: what the section of that function is filled with."""
    text, pieces = TEXT.of(release), dict[str, str]()
    nodes = {formula_name(block.node): block.node for block in plan.backward.blocks if isinstance(block, CallBlock)}
    heads = []
    for i, statements in enumerate(parts.parts, 1):
        given: dict[str, Filled] = {"name": plan.name, "given_needs": forward_needs(plan), "number": i}
        heads.append(text[f"part_of_{kind}"].fill(given).strip())
        pieces[f"{kind} {i}"] = text["part_body"].fill({"head": heads[-1], "body": braced(statements)})
        pieces[f"{kind} {i}{CALLS}"] = " ".join(nodes[name] for name in uses(statements) if name in nodes)
    structs: dict[str, Filled] = {
        "arguments": in_braces(f"{type_} {name};" for name, type_ in inputs.items()),
        "members": in_braces(parts.members),
        "parts": [f"{head};" for head in heads],
    }
    declared = text[f"split_{kind}"].fill({**filled, **structs})
    return {DECLARATIONS: declared, **pieces, "wrapper": text[kind].fill(filled)}


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
