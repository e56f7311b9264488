"""Family: the Nodes, as C++ structs and as Python classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.families.nodes import python_files as python
from pipeline.families.nodes.parts import PARTS
from pipeline.families.nodes.split import CUTS, split_files
from pipeline.model.autograd import Reverse
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.nodes.plan import NodePlan

_OWN = regex(r"Functions(_\d+|_\d+_formulas|_common)?\.(h|cpp)|python_functions(_\d+|Everything)?\.(h|cpp)")

FILES = ("Functions.h", "Functions.cpp")
DECLARATION = "declaration"
DEFINITION = "definition"

# Each template has one of the two holes, both, or neither.
_SLOTS = {"autograd_function_declarations": DECLARATION, "autograd_function_definitions": DEFINITION}


def files(nodes: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """All files of the Nodes."""
    split = layout.name == "split"
    own = split_files(nodes, _SLOTS, layout.shards, release) if split else _upstream_files(nodes)
    return own + python.files(nodes, layout)


def _upstream_files(nodes: Sequence[Unit]) -> list[File]:
    """One header and one source with all Nodes."""
    names = tuple(unit.name for unit in nodes)
    return [File(name, name, {}, _SLOTS, names) for name in FILES]


def owns(name: str) -> bool:
    """Whether a file name belongs to the Nodes."""
    return _OWN.fullmatch(name) is not None


def plan(info: Reverse, release: Release) -> NodePlan:
    """The plan of a Node. Raises SpecError as its planner does."""
    from pipeline.families.nodes.plan import plan_node  # only rendering needs it

    return plan_node(info.node, info, release)


def render(plan: NodePlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
    from pipeline.families.nodes import python_text, text

    return {
        DECLARATION: text.declaration(plan, release),
        DEFINITION: text.definition(plan, release),
        python.INITIALIZER: python_text.initializer(plan, release),
        python.PROPERTIES: python_text.properties(plan, release),
    }


def _marked(plan: NodePlan) -> NodePlan:
    """The plan with marks around its formulas that name their inputs."""
    from pipeline.families.nodes.marks import marked

    return marked(plan)


NODES = Family(
    "nodes",
    "Nodes",
    "Node",
    "reverse",
    plan,
    render,
    files,
    owns,
    (DECLARATION, DEFINITION, python.INITIALIZER, python.PROPERTIES),
    templates=(*FILES, *python.FILES),
    subsets={"libtorch": "Functions", "pybindings": "python_functions"},
    homes=dict(zip(_SLOTS, FILES)),
    cuts=CUTS,
    marked=_marked,
    parts=PARTS,
    shards=lambda nodes, layout, release: python.shards(nodes, layout),
)
