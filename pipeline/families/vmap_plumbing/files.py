"""Family: `VmapGeneratedPlumbing.h`, the functions by which vmap calls its batching rules. A unit is one function.

torchgen: `gen_vmap_plumbing.gen_all_vmap_plumbing`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import DEFINITION, Family, Layout
from pipeline.families.file import File
from pipeline.model.native import FunctionHead, FunctionNames
from pipeline.model.units import Unit
from pipeline.releases.model import Release

NAME = "VmapGeneratedPlumbing.h"
_HEAD = "#include <ATen/functorch/PlumbingHelper.h>"
_WHOLE = f"""
#pragma once
#include <ATen/Operators.h>
{_HEAD}

namespace at {{ namespace functorch {{

${{plumbing}}

}}}} // namespace at::functorch
"""


class VmapPlumbing(Family):
    """Functions in the order of parsing. The header has no template: this is its whole text."""

    name, label = "vmap_plumbing", "plumbing of vmap"
    needs = "ATen/Operator.h"
    rendered = (DEFINITION,)
    slots = {"plumbing": DEFINITION}
    shards_by, folder = "base", "ATen"
    described = by_default = False
    subsets = {"aten": "", "headers": ""}

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The one header."""
        names = tuple(unit.name for unit in units)
        return [File(NAME, "", {}, dict(self.slots), names, before=_WHOLE, mark=_HEAD)]

    def titled(self, names: FunctionNames) -> str:
        """The name of the function."""
        return f"{names.name.replace('.', '_')}_generated_plumbing"

    def selects(self, head: FunctionHead, release: Release) -> bool:
        """Whether a function may have plumbing; the plan also looks at its arguments."""
        returns_nothing = head.schema.endswith("-> ()")
        return returns_nothing or (head.kind in ("functional", "inplace") and not head.inplace_view)

    def owns(self, name: str) -> bool:
        """Whether a file name belongs to the family."""
        return name == NAME


VMAP_PLUMBING = VmapPlumbing()
