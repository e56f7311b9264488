"""The output families. A new one is a folder of its own and a row here."""

from __future__ import annotations

from pipeline.families.factories.files import FACTORIES
from pipeline.families.family import Family
from pipeline.families.graphs.files import GRAPHS
from pipeline.families.inplace_or_view.files import INPLACE_OR_VIEW
from pipeline.families.nodes.files import NODES
from pipeline.families.trace_type.files import TRACE_TYPE
from pipeline.families.variable_type.files import VARIABLE_TYPE
from pipeline.families.view_funcs.files import VIEW_FUNCS

FAMILIES: dict[str, Family] = {
    family.name: family for family in (NODES, VARIABLE_TYPE, INPLACE_OR_VIEW, TRACE_TYPE, VIEW_FUNCS, FACTORIES, GRAPHS)
}
