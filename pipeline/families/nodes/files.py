"""Family: the Nodes, as C++ structs and as Python classes."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import Family, Layout, pieces
from pipeline.families.file import File
from pipeline.families.nodes import python_files as python
from pipeline.families.nodes import text
from pipeline.families.nodes.parts import PARTS
from pipeline.families.nodes.plan import NodePlan, plan_node
from pipeline.families.nodes.split import CUTS, split_files
from pipeline.model.autograd import Reverse
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

_OWN = regex(r"Functions(_\d+|_\d+_formulas|_common)?\.(h|cpp)|python_functions(_\d+|Everything)?\.(h|cpp)")

DECLARATION = "declaration"
DEFINITION = "definition"


def files(nodes: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """All files of the Nodes."""
    own = split_files(nodes, layout.shards, release) if layout.name == "split" else _upstream_files(nodes)
    return own + python.files(nodes, layout)


def _upstream_files(nodes: Sequence[Unit]) -> list[File]:
    """One header and one source with all Nodes. Each template has one of the two holes, or both, or none."""
    names = tuple(unit.name for unit in nodes)
    slots = {"autograd_function_declarations": DECLARATION, "autograd_function_definitions": DEFINITION}
    return [File(name, name, {}, slots, names) for name in ("Functions.h", "Functions.cpp")]


def owns(name: str) -> bool:
    """Whether a file of the Nodes is called so."""
    return _OWN.fullmatch(name) is not None


def plan(info: Reverse, release: Release) -> NodePlan:
    """What is printed of a Node."""
    return plan_node(info.node, info, release)


NODES = Family(
    "nodes",
    "Node",
    "reverse",
    plan,
    pieces({DECLARATION: text.declaration, DEFINITION: text.definition, **python.PIECES}),
    files,
    owns,
    cuts=CUTS,
    parts=PARTS,
)
