"""Family: the dispatch stubs of kernels that are compiled ahead of time, as modules of operators declare them: wrappers
of structured kernels call them. A unit is one stub.

torchgen: `gen.gen_headers`, `gen.gen_source_files`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pipeline.families.aten import by_script
from pipeline.families.family import DECLARATION, DEFINITION, Family, Layout
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

HEADER, SOURCE = "ATen/NativeAotStubs.h", "ATen/NativeAotStubs.cpp"


class NativeAot(Family):
    """A header and a source, without stubs if no module declares any."""

    name, label = "native_aot_stubs", "stubs of kernels compiled ahead of time"
    unit = subject = "stub"
    templates, needs = (HEADER, SOURCE), HEADER
    reads = ("native_aot",)
    rendered = (DECLARATION, DEFINITION)
    slots = {"native_aot_stub_declarations": DECLARATION, "native_aot_stub_definitions": DEFINITION}
    homes = {"native_aot_stub_declarations": HEADER, "native_aot_stub_definitions": SOURCE}
    by_default = described = False
    folder = "ATen"
    subsets = {"aten": "", "headers": "NativeAotStubs.h", "sources": "NativeAotStubs.cpp"}

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The header and the source."""
        names = tuple(unit.name for unit in units)
        return by_script(
            File(os.path.basename(self.homes[hole]), self.homes[hole], {}, {hole: piece}, names)
            for hole, piece in self.slots.items()
        )

    def is_in(self, release: Release) -> bool:
        """Whether operators may have such kernels."""
        return release.has_native_aot


NATIVE_AOT = NativeAot()
