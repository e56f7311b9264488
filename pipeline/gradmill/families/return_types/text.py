"""A class of named results: the function that creates it, its registration, its declaration."""

from __future__ import annotations

from gradmill.families.sections import Text
from gradmill.model.native import Structseq
from gradmill.releases.model import Release
from gradmill.rules.native.structseqs import all_named

_TEXT = Text("return_types/return_types.cpp")


def render(structseq: Structseq, release: Release) -> dict[str, str]:
    """The pieces by name. Further classes of one function are numbered, and stand below an empty line. Raises SpecError
    if a field has no name."""
    all_named(structseq.fields)
    values: dict[str, str | int | list[str]] = {
        "name": structseq.name,
        "type": f"{structseq.name}NamedTuple{structseq.place or ''}",
        "fields": [f'{{"{field}", ""}}' for field in structseq.fields],
        "count": len(structseq.fields),
    }
    filled = {name: section.fill(values) for name, section in _TEXT.of(release).items()}
    return {**filled, "definition": "\n" * (structseq.place > 0) + filled["definition"]}
