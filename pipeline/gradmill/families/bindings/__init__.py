"""Family: the Python bindings of functions and methods. A unit is a name of a module, or a method of Tensor.

deprecated.yaml adds signatures to them. The number of shards is fixed by handwritten code, which gathers their tables,
so every layout has the same sources.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE, Family, Layout
from gradmill.families.file import File, pieces_in
from gradmill.families.sharded import distributed, shard_files
from gradmill.model.entries import by_key
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

SHARDED = "python_torch_functions.cpp"
SHARDS = 3
# Templates -> the module of the names in the file.
_FILES = {
    "python_variable_methods.cpp": "Tensor",
    **{
        f"python_{module}_functions.cpp": f"torch.{module}"
        for module in ("nn", "fft", "linalg", "nested", "sparse", "special")
    },
}
ROW = "row"

_SHARD = regex(r"python_torch_functions(_\d+|Everything)\.cpp")


class Bindings(Family):
    """Names of the module torch in shards, those of each other module in a file."""

    name, label = "bindings", "Python bindings"
    unit, subject = "binding", "python_names.binding"
    rendered = (INCLUDE, DECLARATION, DEFINITION, ROW)
    slots = {"ops_headers": INCLUDE, "py_forwards": DECLARATION, "py_methods": DEFINITION, "py_method_defs": ROW}
    homes = {"shard_id": ""}

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The shards of the module torch, in the order of the spec files; one sorted file for each other module."""
        modules = by_key((unit.name.rpartition(".")[0], unit.name) for unit in units)
        own = [unit for unit in units if unit.name.rpartition(".")[0] == "torch"]
        shards = distributed(own, SHARDS, everything=layout.name != "split")
        others = [
            File(
                name=template,
                template=template,
                holes=pieces_in(self.slots),
                units=tuple(sorted(modules.get(module, ()))),
            )
            for template, module in _FILES.items()
        ]
        return [*shard_files(SHARDED, shards, pieces_in(self.slots)), *others]

    def owns(self, name: str) -> bool:
        return name in _FILES or _SHARD.fullmatch(name) is not None


BINDINGS = Bindings()
