"""Stage `emit:<Node>`: one info to the C++ text of its Node.

Reads an info and the Node's name; writes `NodeText`, with the pieces of every output family.
"""

from __future__ import annotations

from pipeline.model.autograd import Info
from pipeline.model.node_text import NodeText
from pipeline.outputs.families import PIECES
from pipeline.outputs.plan import plan_node
from pipeline.releases.model import Release
from pipeline.text_template import tidy


def run(node: str, info: Info, release: Release) -> NodeText:
    """The text of the Node called `node`."""
    plan = plan_node(node, info, release)
    return NodeText(
        node,
        {name: tidy(render(plan, release), trim=release.trims_lines) for name, render in PIECES.items()},
    )
