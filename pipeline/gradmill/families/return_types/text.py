"""A class of named results, which is its own plan: the function that creates it, its registration, its declaration."""

from __future__ import annotations

from gradmill.families.sections import Text
from gradmill.model.native import Structseq
from gradmill.releases.model import Release
from gradmill.rules.native.structseqs import all_named

_TEXT = Text("return_types/return_types.cpp")


def plan(structseq: Structseq, release: Release) -> Structseq:
    """The class. Raises SpecError if it has a field without a name."""
    all_named(structseq.fields)
    return structseq


def render(plan: Structseq, release: Release) -> dict[str, str]:
    """The pieces by name. Further classes of one function are numbered, and stand below an empty line."""
    values: dict[str, str | int | list[str]] = {
        "name": plan.name,
        "type": f"{plan.name}NamedTuple{plan.place or ''}",
        "fields": [f'{{"{field}", ""}}' for field in plan.fields],
        "count": len(plan.fields),
    }
    filled = {name: section.fill(values) for name, section in _TEXT.of(release).items()}
    return {**filled, "definition": "\n" * (plan.place > 0) + filled["definition"]}
