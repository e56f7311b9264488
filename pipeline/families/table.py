"""The output families. A new one is a module of its own and a row here."""

from __future__ import annotations

from pipeline.families.family import Family
from pipeline.families.nodes import files as autograd_functions
from pipeline.families.nodes.split import split
from pipeline.families.python import files as python_functions


def families(layout: str, shards: int) -> tuple[Family, ...]:
    """The families of a layout. `upstream` is torchgen's; `split` has the Nodes in so many shards."""
    nodes = split(shards) if layout == "split" else autograd_functions.FAMILY
    return (nodes, python_functions.FAMILY)


# Every piece of a Node's text that some layout needs: Nodes are rendered once for all layouts.
PIECES = {**autograd_functions.FAMILY.pieces, **python_functions.FAMILY.pieces}
