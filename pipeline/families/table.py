"""The output families. A new one is a folder of its own and a row here."""

from __future__ import annotations

from pipeline.families.factories.files import FACTORIES
from pipeline.families.family import Family
from pipeline.families.nodes.files import NODES
from pipeline.families.variable_type.files import VARIABLE_TYPE

FAMILIES: dict[str, Family] = {family.name: family for family in (NODES, VARIABLE_TYPE, FACTORIES)}
