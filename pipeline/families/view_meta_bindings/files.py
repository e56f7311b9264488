"""Family: the Python bindings of the ViewMetas. A unit is a view; its in-place variant has a class, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.families.family import Family, Layout, in_csrc
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.model.native import FunctionNames
    from pipeline.model.views import ViewGroup

NAME = "ViewMetaClassesPythonBinding.cpp"
TEMPLATE = f"ATen/{NAME}"
BINDING = "binding"


def files(views: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The one file. SpecError as `check_release`."""
    from pipeline.cpp.view_metas import check_release  # few runs have this family

    check_release(release, TEMPLATE)
    return [File(NAME, TEMPLATE, {}, {"view_meta_bindings": BINDING}, tuple(unit.name for unit in views))]


def plan(group: ViewGroup, release: Release) -> tuple[str, ...]:
    """The names of the classes of a view; none if no ViewMeta replays it."""
    from pipeline.cpp.view_metas import view_meta  # few runs have this family

    own = (group.view, group.inplace) if group.replayed else ()
    return tuple(view_meta(str(each.func.name)) for each in own if each is not None)


def render(names: tuple[str, ...], release: Release) -> dict[str, str]:
    """The one piece of the text."""
    from pipeline.families.view_meta_bindings import text  # only rendering needs it

    return {BINDING: text.binding(names, release)}


def title(names: FunctionNames) -> str:
    """The name of the class, with its module."""
    from pipeline.cpp.view_metas import view_meta

    return f"functionalization.{view_meta(names.name)}"


VIEW_META_BINDINGS = Family(
    "view_meta_bindings",
    "Python bindings of ViewMetas",
    "function",
    "view",
    plan,
    render,
    files,
    NAME.__eq__,
    (BINDING,),
    templates=(TEMPLATE,),
    by_default=False,
    subsets={"functionalization": ""},
    place=in_csrc("functionalization/generated"),
    needs=TEMPLATE,
    selects=lambda head, release: release.has_view_metas and head.view_kind == "aliasing" and not head.implicit,
    titled=title,
)
