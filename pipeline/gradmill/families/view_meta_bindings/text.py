"""The Python bindings of a view's ViewMetas: their plan is the names of these classes."""

from __future__ import annotations

from gradmill.cpp.view_metas import view_meta
from gradmill.families.sections import Text
from gradmill.model.views import ViewGroup
from gradmill.releases.model import Release

_TEXT = Text("view_meta_bindings/view_meta_bindings.cpp")


def plan(group: ViewGroup, release: Release) -> tuple[str, ...]:
    """The names of the classes of a view; none if no ViewMeta replays it."""
    own = (group.view, group.inplace) if group.replayed else ()
    return tuple(view_meta(str(each.func.name)) for each in own if each is not None)


def binding(names: tuple[str, ...], release: Release) -> str:
    """The bindings of classes."""
    return "".join(_TEXT.of(release)["binding"].fill({"name": name}) for name in names)
