"""Family: the headers of kernels in ATen, one for each operator and kind: `add_native.h`, `add_meta.h`,
`add_cpu_dispatch.h`; and those that include all of a kind. A unit is an operator.

torchgen: `gen.gen_per_operator_headers`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import Family, Layout, comment_of_script
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

NATIVE, META, INCLUDE = "native", "meta", "include of meta"
