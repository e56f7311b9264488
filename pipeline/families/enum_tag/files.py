"""Family: `python_enum_tag.cpp`, the tags of operators in Python. It has no units: one list has all tags."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.problems.problem import SpecError
from pipeline.releases.model import Release

TEMPLATE = "python_enum_tag.cpp"


def files(units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The one file, with the tags by name. SpecError for a tag that is not text, among others that are."""
    if layout.odd_tag is not None:
        entry, name = layout.odd_tag
        error = SpecError(f"the name of the tag is not text: {name}", "write a name", field=("tag",))
        error.role, error.entry, error.op = "tags", entry, name
        raise error
    values = "".join(f'\n.value("{tag}", at::Tag::{tag})' for tag in layout.tags)
    return [File(TEMPLATE, TEMPLATE, {"enum_of_valid_tags": values}, {}, ())]


ENUM_TAG = Family(
    "enum_tag",
    "tags",
    "function",
    "function",
    lambda subject, release: None,
    lambda plan, release: {},
    files,
    TEMPLATE.__eq__,
    templates=(TEMPLATE,),
    subsets={"pybindings": ""},
    by_default=False,
    needs=TEMPLATE,
    selects=lambda head, release: False,
)
