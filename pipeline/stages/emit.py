"""Stage `emit:<Node>`: one info to the C++ text of its Node.

Reads an info and the Node's name; writes `NodeText`, with the pieces of every output family.
"""

from __future__ import annotations

from pipeline.families.nodes.plan import plan_node
from pipeline.families.table import PIECES
from pipeline.families.template import tidy
from pipeline.model.autograd import Info
from pipeline.model.node_text import NodeText
from pipeline.releases.model import Release


def run(node: str, info: Info, release: Release) -> NodeText:
    """The text of the Node called `node`."""
    plan = plan_node(node, info, release)
    return NodeText(
        node,
        {name: tidy(render(plan, release), trim=release.trims_lines) for name, render in PIECES.items()},
    )
