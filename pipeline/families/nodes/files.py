"""Family: `Functions.h` and `Functions.cpp`, the Nodes themselves."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import Family
from pipeline.families.file import File
from pipeline.families.nodes import text as node
from pipeline.model.infos import NodeRow

DECLARATION = "declaration"
DEFINITION = "definition"


def files(nodes: Sequence[NodeRow]) -> list[File]:
    """One header and one source with all Nodes. Each template has one of the two holes, or both, or none."""
    names = tuple(row.node for row in nodes)
    slots = {"autograd_function_declarations": DECLARATION, "autograd_function_definitions": DEFINITION}
    return [File(name, name, {}, slots, names) for name in ("Functions.h", "Functions.cpp")]


PIECES = {DECLARATION: node.declaration, DEFINITION: node.definition}
FAMILY = Family(PIECES, files)
