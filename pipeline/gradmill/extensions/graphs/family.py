"""Family: `graphs/X.h` and `graphs/X.cpp` of each file of graphs. A unit is one graph; a stage renders it.

The text of a graph depends on the formulas of the operators that it calls, which are not part of the graph: the stage
reads them one by one. Each file is assembled as a whole, because the functions of a file share what they call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradmill.families.family import Family, Layout
from gradmill.families.file import File
from gradmill.model.entries import by_key
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

FOLDER = "graphs/"
ENDINGS = (".h", ".cpp")


class Graphs(Family):
    """A header and a source for each file of graphs, in any layout."""

    name = label = "graphs"
    whole = "gradmill.extensions.graphs.queries.files"
    unit, subject = "graph", "gradmill.extensions.graphs.queries.planned.pieces"
    folders = ("graphs",)
    described = False
    known = regex(r"graphs/.*(\.h|\.cpp)", re.DOTALL)

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """A header and a source for each file of graphs."""
        members = by_key((unit.shard_key, unit.name) for unit in units)
        return [
            File(f"{FOLDER}{stem}{ending}", "", {}, tuple(names), whole=True)
            for stem, names in members.items()
            for ending in ENDINGS
        ]

    def render(self, subject: dict[str, str], release: Release, *, markers: bool = False) -> dict[str, str]:
        """The pieces themselves: the stage has rendered them."""
        return subject


GRAPHS = Graphs()
