"""The Python bindings of a view's ViewMetas."""

from __future__ import annotations

from gradmill.cpp.view_metas import view_meta
from gradmill.families.sections import Text
from gradmill.model.views import ViewGroup
from gradmill.releases.model import Release

_TEXT = Text("view_meta_bindings/view_meta_bindings.cpp")


def render(group: ViewGroup, release: Release) -> dict[str, str]:
    """The bindings of the classes of a view; none if no ViewMeta replays it."""
    own = (group.view, group.inplace) if group.replayed else ()
    names = [view_meta(str(each.func.name)) for each in own if each is not None]
    return {"binding": "".join(_TEXT.of(release)["binding"].fill({"name": name}) for name in names)}
