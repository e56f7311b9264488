"""Renders the Python bindings of one Node: its class, and the getters of its saved attributes."""

from __future__ import annotations

from pipeline.families.nodes.plan import NodePlan
from pipeline.families.sections import Text
from pipeline.releases.model import Release

_TEXT = Text("nodes/python.cpp")


def initializer(plan: NodePlan, release: Release) -> str:
    """The registration of the Node's Python class."""
    return _TEXT.of(release)["class"].fill({"node": plan.node})


def properties(plan: NodePlan, release: Release) -> str:
    """The getters, and the table of properties that refers to them."""
    text = _TEXT.of(release)
    getters = []
    rows = []
    for saved in plan.saved:
        names = {"node": plan.node, "name": saved.name}
        for getter in saved.how.getters:
            tail = getter.tail.format(scalars_getter_tail=release.scalars_getter_tail)
            getters.append(_TEXT.composed(release, getter.frame, getter.body).fill(names) + tail)
            rows.append(text["raw_property" if getter.raw else "property"].fill(names).rstrip("\n"))
    table = text["properties"].fill({"node": plan.node, "properties": ",\n".join(rows) + "," if rows else ""})
    return "\n".join(getters).rstrip() + "\n" + table
