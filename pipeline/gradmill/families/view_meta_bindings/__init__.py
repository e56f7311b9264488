"""Family: the Python bindings of the ViewMetas. A unit is a view; its in-place variant has a class, too."""

from __future__ import annotations

from gradmill.families.family import Family
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionNames, FunctionSummary
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["view_meta_bindings"].templates


class ViewMetaBindings(Family):
    """Views in the order of the file."""

    name, label = "view_meta_bindings", "Python bindings of ViewMetas"
    subject, order = "groups.view_group", "groups.by_view_groups"
    rendered = ("binding",)
    slots = {"view_meta_bindings": "binding"}

    def is_in(self, release: Release) -> bool:
        return release.has_view_metas

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function is a view of the dispatcher's."""
        return release.has_view_metas and head.view_kind == "aliasing" and not head.implicit

    def titled(self, names: FunctionNames) -> str:
        """The name of the class, with its module."""
        from gradmill.cpp.view_metas import view_meta

        return f"functionalization.{view_meta(names.name)}"


VIEW_META_BINDINGS = ViewMetaBindings()
