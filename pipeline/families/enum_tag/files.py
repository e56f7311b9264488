"""Family: `python_enum_tag.cpp`, the tags of operators in Python. It has no units: one list has all tags."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

TEMPLATE = "python_enum_tag.cpp"


def files(units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The one file, with the tags by name."""
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
