"""Family: `CompositeViewCopyKernels.cpp`, the kernels that upstream writes for copies of views, and for the variants
that it generates. A unit is a group of variants, or a view with its own.

torchgen: `gen.gen_source_files`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.aten import InAten
from gradmill.families.family import INCLUDE, Layout
from gradmill.families.file import File, pieces_in
from gradmill.model.units import Unit
from gradmill.model.views import VARIANTS, VIEW
from gradmill.releases.model import Release

NAME = "CompositeViewCopyKernels.cpp"
TEMPLATE = f"ATen/{NAME}"


class CompositeKernels(InAten):
    """Views, then other groups, each in the order of their first functions."""

    name, label = "composite_kernels", "composite kernels"
    unit, subject = "group", "groups.together"
    rendered = (INCLUDE, "copy", "functional", "out")
    slots = {
        "ops_headers": INCLUDE,
        "CompositeViewCopyKernel_Definitions": "copy",
        "GeneratedCompositeFunctional_Definitions": "functional",
        "GeneratedCompositeOut_Definitions": "out",
    }
    shards_by = "base"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The source."""
        names = tuple(unit.name for kind in (VIEW, VARIANTS) for unit in units if unit.name.startswith(kind))
        return [File(name=NAME, template=TEMPLATE, holes=pieces_in(self.slots), units=names)]


COMPOSITE_KERNELS = CompositeKernels()
