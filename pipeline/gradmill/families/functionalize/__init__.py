"""Family: `RegisterFunctionalization_<k>.cpp`, the kernels that make functions of those that write to their arguments,
and views of tensors that are replayed; `FunctionalInverses.h`. A unit is a group of variants, or a view with its own.

torchgen: `gen.gen_source_files`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.aten import InAten
from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION, Layout
from gradmill.families.file import File, pieces_in
from gradmill.families.sharded import Sharded
from gradmill.model.units import Unit
from gradmill.model.views import VIEW
from gradmill.releases.model import Release

SOURCE, HEADER = "RegisterFunctionalization.cpp", "FunctionalInverses.h"
INVERSE = "inverse"


class Functionalize(InAten, Sharded):
    """Groups of variants, views, then single functions, each in the order of their first functions."""

    name, label = "functionalize", "functionalized groups"
    unit, subject = "group", "groups.together"
    rendered = (INCLUDE, DEFINITION, REGISTRATION, INVERSE)
    slots = {"ops_headers": INCLUDE, "func_definitions": DEFINITION, "func_registrations": REGISTRATION}
    homes = {"shard_id": ""}
    upstream_shards = 4

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The shards and the header."""
        views = tuple(unit.name for unit in units if unit.name.startswith(VIEW))
        header = File(
            name=HEADER,
            template=f"ATen/{HEADER}",
            holes=pieces_in({"view_inverse_declarations": INVERSE}),
            units=views,
        )
        return [*super().files(units, layout, release), header]

    def owns(self, name: str) -> bool:
        return name == HEADER or super().owns(name)


FUNCTIONALIZE = Functionalize()
