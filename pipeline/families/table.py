"""The output families and their templates. A new family is a new folder and a row here."""

from __future__ import annotations

from collections import Counter

from pipeline.families.aggregated_headers.files import AGGREGATED_HEADERS
from pipeline.families.annotated_args.files import ANNOTATED_ARGS
from pipeline.families.backend_select.files import BACKEND_SELECT
from pipeline.families.backend_stubs.files import BACKEND_STUBS
from pipeline.families.bindings.files import BINDINGS
from pipeline.families.c_shims.files import C_SHIMS
from pipeline.families.composite_kernels.files import COMPOSITE_KERNELS
from pipeline.families.cpp_api.files import CPP_API
from pipeline.families.declarations.files import DECLARATIONS
from pipeline.families.dispatcher_api.files import DISPATCHER_API
from pipeline.families.enum_tag.files import ENUM_TAG
from pipeline.families.factories.files import FACTORIES
from pipeline.families.family import Family
from pipeline.families.functionalize.files import FUNCTIONALIZE
from pipeline.families.graphs.files import GRAPHS
from pipeline.families.inplace_or_view.files import INPLACE_OR_VIEW
from pipeline.families.kernel_headers.files import KERNEL_HEADERS
from pipeline.families.kernel_registrations.files import KERNEL_REGISTRATIONS
from pipeline.families.lazy.files import LAZY
from pipeline.families.native_aot_stubs.files import NATIVE_AOT
from pipeline.families.nodes.files import NODES
from pipeline.families.own_files.files import OWN_FILES
from pipeline.families.return_types.files import RETURN_TYPES
from pipeline.families.trace_type.files import TRACE_TYPE
from pipeline.families.variable_type.files import VARIABLE_TYPE
from pipeline.families.view_funcs.files import VIEW_FUNCS
from pipeline.families.view_meta_bindings.files import VIEW_META_BINDINGS
from pipeline.families.view_metas.files import VIEW_METAS
from pipeline.specs.spec_set import Templates

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        NODES,
        VARIABLE_TYPE,
        INPLACE_OR_VIEW,
        TRACE_TYPE,
        VIEW_FUNCS,
        FACTORIES,
        BINDINGS,
        ANNOTATED_ARGS,
        RETURN_TYPES,
        ENUM_TAG,
        VIEW_METAS,
        VIEW_META_BINDINGS,
        LAZY,
        BACKEND_STUBS,
        DISPATCHER_API,
        BACKEND_SELECT,
        CPP_API,
        KERNEL_HEADERS,
        AGGREGATED_HEADERS,
        KERNEL_REGISTRATIONS,
        COMPOSITE_KERNELS,
        FUNCTIONALIZE,
        NATIVE_AOT,
        DECLARATIONS,
        C_SHIMS,
        OWN_FILES,
        GRAPHS,
    )
}
_OF_SETS = [family for family in FAMILIES.values() if family.unit != "graph"]
TEMPLATES = Templates(
    tuple(name for family in _OF_SETS for name in family.templates),
    tuple(name for family in FAMILIES.values() if family not in _OF_SETS for name in family.templates),
)
_USERS = Counter(name for family in FAMILIES.values() for name in family.templates)


def distinctive(family: Family) -> tuple[str, ...]:
    """The templates of which a spec set must have one to have the family: the one it needs, and those that no other
    family has. None if it needs none."""
    return (family.needs, *(name for name in family.templates if _USERS[name] == 1)) if family.needs else ()
