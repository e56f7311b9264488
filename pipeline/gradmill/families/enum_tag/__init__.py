"""Family: `python_enum_tag.cpp`, the tags of operators in Python. It has no units: one list has all tags.

torchgen: `gen.parse_tags_yaml_struct`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.family import Family, Layout
from gradmill.families.file import File
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionSummary
from gradmill.model.units import Unit
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["enum_tag"].templates


class EnumTag(Family):
    """All tags by name."""

    name, label = "enum_tag", "tags"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The one file. SpecError as `checked_tags`."""
        values = "".join(f'\n.value("{tag}", at::Tag::{tag})' for tag in checked_tags(layout))
        return [File(name=TEMPLATE, template=TEMPLATE, holes={"enum_of_valid_tags": values})]

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """False: it has no units."""
        return False


def checked_tags(layout: Layout) -> tuple[str, ...]:
    """All tags, sorted. SpecError for a tag that is not text, among others that are."""
    if layout.odd_tag is not None:
        entry, name = layout.odd_tag
        error = SpecError(f"the name of the tag is not text: {name}", "write a name", field=("tag",))
        error.role, error.entry, error.op = "tags", entry, name
        raise error
    return layout.tags


ENUM_TAG = EnumTag()
