"""Splits the C++ of a large graph: its forward and its backward become functions of bounded size, for several sources.

A part of a body binds references to the variables that it uses: to arguments, or to values that an earlier part left in
a struct. So its statements are those of the whole body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gradmill.extensions.graphs.functional.program import names_in, values_of
from gradmill.extensions.graphs.ir import Code, Do, Let, Stmt, Title, code, uses, variable
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.text.expressions.literals import INITIAL
from gradmill.extensions.graphs.text.forward import result_type
from gradmill.extensions.graphs.text.statements import lines

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


def value_types(plan: GraphPlan) -> dict[str, str]:
    """The C++ types of the values that the forward computes."""
    computed = (each for step in plan.functional.steps for each in values_of(step).items())
    return {name: result_type(type_) for name, type_ in computed}


def remade_types(plan: GraphPlan) -> dict[str, str]:
    """The C++ types of the values that the backward recomputes."""
    return {remade.name: result_type(remade.step.results[0].type) for remade in plan.backward.remade}


def returned_names(plan: GraphPlan) -> set[str]:
    """The names of the values that the forward returns."""
    return names_in(tuple(each.value for each in plan.returned))
