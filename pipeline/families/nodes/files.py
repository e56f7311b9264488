"""Family: the Nodes, as C++ structs and as Python classes.

torchgen: `gen_autograd_functions.gen_autograd_functions_lib`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import DECLARATION, DEFINITION, Family, Layout
from pipeline.families.file import File
from pipeline.families.nodes import python_files as python
from pipeline.families.nodes.parts import PARTS
from pipeline.families.nodes.split import CUTS, split_files
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

HEADER, SOURCE = "Functions.h", "Functions.cpp"


class Nodes(Family):
    """All Nodes by name in one header and one source, or split; their bindings in shards."""

    name, label = "nodes", "Nodes"
    unit, subject = "Node", "reverse"
    templates, needs = (HEADER, SOURCE, *python.FILES), HEADER
    rendered = (DECLARATION, DEFINITION, python.INITIALIZER, python.PROPERTIES)
    slots = {"autograd_function_declarations": DECLARATION, "autograd_function_definitions": DEFINITION}
    homes = {"autograd_function_declarations": HEADER, "autograd_function_definitions": SOURCE}
    subsets = {"libtorch": "Functions", "pybindings": "python_functions"}
    has_shards = True
    known = regex(r"Functions(_\d+|_\d+_formulas|_common)?\.(h|cpp)|python_functions(_\d+|Everything)?\.(h|cpp)")
    cuts = CUTS
    parts = PARTS

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """All files of the Nodes."""
        if layout.name == "split":
            own = split_files(units, self.slots, layout.shards, release)
        else:
            names = tuple(unit.name for unit in units)
            own = [File(name, name, {}, self.slots, names) for name in (HEADER, SOURCE)]
        return own + python.files(units, layout)

    def shards(self, units: Sequence[Unit], layout: Layout, release: Release) -> dict[str, tuple[str, ...]]:
        """The names of Nodes by shard of the bindings."""
        return python.shards(units, layout)


NODES = Nodes()
