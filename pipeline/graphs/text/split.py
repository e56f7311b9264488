"""Splits the C++ of a large graph: its forward and its backward become functions of bounded size, for several sources.

A part of a body binds references to the variables that it uses: to arguments, or to values that an earlier part left in
a struct. So its statements are those of the whole body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from pipeline.graphs.functional.program import names_in, values_of
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.expressions.literals import INITIAL
from pipeline.graphs.text.forward import result_type

PART = 100_000  # characters of a part of a body
_WORD = re.compile(r"(?<![\w.:])[^\W\d]\w*")
_NO_CODE = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')  # strings and comments


class Split(Struct, frozen=True):
    """A body in parts, each a list of statements; the types of the values that cross parts."""

    parts: list[list[str]]
    crossing: dict[str, str]

    @property
    def members(self) -> list[str]:
        """The members of the struct for the values that cross parts."""
        return [f"{type_} {name}{INITIAL.get(type_, '')};" for name, type_ in self.crossing.items()]

    def named(self, name: str) -> str:
        """The expression for a value after the last part."""
        return f"values_.{name}" if name in self.crossing else name


def split(
    statements: list[str],
    inputs: Iterable[str],
    types: Mapping[str, str],
    shared: Mapping[str, str],
    returned: Iterable[str],
    starts: Callable[[str], bool],
) -> Split:
    """Splits a body at lines that `starts` accepts.

    `inputs`: the names of its arguments. `types`: the types of the values that statements declare. `shared`: those of
    variables that all parts may change. `returned`: the values that are used after the last part. A value that crosses
    parts may be freed by the last one.
    """
    chunks = _chunks(statements, starts)
    words = [set(_WORD.findall(_NO_CODE.sub("", "\n".join(chunk)))) for chunk in chunks]
    first = {name: i for i, used in reversed(list(enumerate(words))) for name in used & types.keys()}
    last = {name: i for i, used in enumerate(words) for name in used & types.keys()}
    last |= dict.fromkeys(set(returned) & first.keys(), len(chunks))
    crossing = {name: types[name] for name in types if name in first and last[name] > first[name]}
    parts, arguments = [], set(inputs)
    for i, (chunk, used) in enumerate(zip(chunks, words)):
        bound = [_bound(name, "inputs_", const=True) for name in sorted(used & arguments)]
        bound += [_bound(name, "values_", const=False) for name in sorted(used & shared.keys())]
        bound += [_bound(name, "values_", const=False) for name in sorted(used & crossing.keys()) if first[name] < i]
        left = [f"values_.{name} = {name};" for name in crossing if first[name] == i]
        parts.append([*bound, *chunk, *left])
    return Split(parts, {**crossing, **shared})


def _bound(name: str, struct: str, *, const: bool) -> str:
    return f"[[maybe_unused]] {'const ' if const else ''}auto& {name} = {struct}.{name};"


def _chunks(statements: list[str], starts: Callable[[str], bool]) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    size = 0
    for line in statements:
        if size > PART and starts(line):
            chunks.append([])
            size = 0
        chunks[-1].append(line)
        size += len(line) + 1
    return chunks


def at_a_step(line: str) -> bool:
    """Whether a step of the forward starts: with its comment."""
    return line.startswith("// ")


def at_a_block(line: str) -> bool:
    """Whether a statement of the backward starts, outside of any block."""
    return not line.startswith((" ", "}"))


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
