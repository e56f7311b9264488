"""The plan of a view's bindings: the names of its classes."""

from __future__ import annotations

from pipeline.cpp.view_metas import view_meta
from pipeline.model.views import ViewGroup
from pipeline.releases.model import Release


def plan(group: ViewGroup, release: Release) -> tuple[str, ...]:
    """The names of the classes of a view; none if no ViewMeta replays it."""
    own = (group.view, group.inplace) if group.replayed else ()
    return tuple(view_meta(str(each.func.name)) for each in own if each is not None)
