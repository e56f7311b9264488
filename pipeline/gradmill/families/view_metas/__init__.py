"""Family: the ViewMetas, classes that replay views in functionalization. Upstream writes them among ATen's files.

A unit is a view; its in-place variant has a class, too.

torchgen: `gen_functionalization_type.gen_functionalization_view_meta_classes`.
"""

from __future__ import annotations

from gradmill.families.aten import InAten
from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionNames, FunctionSummary
from gradmill.releases.model import Release

HEADER, SOURCE = FAMILY_ROWS["view_metas"].templates


class ViewMetas(InAten):
    """Views in the order of the file."""

    name, label = "view_metas", "ViewMetas"
    subject, order = "groups.view_group", "groups.by_view_groups"
    rendered = (INCLUDE, DECLARATION, DEFINITION)
    slots = {"view_meta_declarations": DECLARATION, "view_meta_implementations": DEFINITION, "op_headers": INCLUDE}
    homes = {"view_meta_declarations": HEADER, "view_meta_implementations": SOURCE, "op_headers": SOURCE}

    def is_in(self, release: Release) -> bool:
        """Whether functionalization replays views by classes."""
        return release.has_view_metas

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function is a view. The source includes the headers of all, also of those that have no class."""
        return release.has_view_metas and head.view_kind == "aliasing"

    def titled(self, names: FunctionNames) -> str:
        """The name of the class."""
        from gradmill.cpp.view_metas import view_meta  # few runs have this family

        return view_meta(names.name)


VIEW_METAS = ViewMetas()
