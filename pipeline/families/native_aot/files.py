"""Family: the dispatch stubs of kernels that are compiled ahead of time, which modules of operators declare. gradmill
executes no such module, and writes the files of a build without them. It has no units.

torchgen: `gen.gen_headers`, `gen.gen_source_files`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pipeline.families.aten import by_script
from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.model.native import FunctionHead
from pipeline.model.units import Unit
from pipeline.releases.model import Release

HEADER, SOURCE = "ATen/NativeAotStubs.h", "ATen/NativeAotStubs.cpp"
_HOLES = {HEADER: "native_aot_stub_declarations", SOURCE: "native_aot_stub_definitions"}


class NativeAot(Family):
    """A header and a source without stubs."""

    name, label = "native_aot", "stubs of kernels compiled ahead of time"
    templates, needs = (HEADER, SOURCE), HEADER
    by_default = described = False
    folder = "ATen"
    subsets = {"aten": "", "headers": "NativeAotStubs.h", "sources": "NativeAotStubs.cpp"}

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The header and the source."""
        return by_script(File(os.path.basename(name), name, {hole: ""}, {}, ()) for name, hole in _HOLES.items())

    def is_in(self, release: Release) -> bool:
        """Whether operators may have such kernels."""
        return release.has_native_aot

    def selects(self, head: FunctionHead, release: Release) -> bool:
        """False: it has no units."""
        return False


NATIVE_AOT = NativeAot()
