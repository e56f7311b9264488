"""Family: `TraceType_<k>.cpp`, the kernels that record calls in a trace. A unit is one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.cpp.kernel_names import kernel_title
from pipeline.families.family import Family, Layout, Registered
from pipeline.families.file import File
from pipeline.families.sharded import DECLARATION, DEFINITION, REGISTRATION, sharded_files, shards_of
from pipeline.model.native import FunctionHead, NativeFunction
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.trace_type.plan import TracePlan

TEMPLATE = "TraceType.cpp"
INCLUDE = "include"

_OWN = regex(r"TraceType(_\d+|Everything)\.cpp")
_SLOTS = {
    "ops_headers": INCLUDE,
    "trace_method_definitions": DEFINITION,
    "trace_wrapper_registrations": REGISTRATION,
}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The shards: functions in the order of parsing. Each overload includes the header of its operator."""
    return sharded_files(TEMPLATE, shards(functions, layout, release), _SLOTS, layout)


def shards(functions: Sequence[Unit], layout: Layout, release: Release) -> dict[str, tuple[str, ...]]:
    """The names of functions by shard."""
    return shards_of(functions, layout, release.trace_shards)


def owns(name: str) -> bool:
    """Whether a file name belongs to this family."""
    return _OWN.fullmatch(name) is not None


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether the tracing kernel of a function is generated."""
    return head.cpp_name not in release.manual_kernels


def plan(function: NativeFunction, release: Release) -> TracePlan:
    """The plan of a function. Raises SpecError as its planner does."""
    from pipeline.families.trace_type.plan import plan_trace  # only rendering needs it

    return plan_trace(function, release)


def render(plan: TracePlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
    from pipeline.families.trace_type import text

    return {
        INCLUDE: text.include(plan, release),
        DEFINITION: text.definition(plan, release),
        REGISTRATION: text.registration(plan, release),
    }


TRACE_TYPE = Family(
    "trace_type",
    "TraceType kernels",
    "function",
    "function",
    plan,
    render,
    files,
    owns,
    (INCLUDE, DEFINITION, REGISTRATION, DECLARATION),
    templates=(TEMPLATE,),
    subsets={"libtorch": ""},
    needs=TEMPLATE,
    selects=selects,
    homes={"shard_id": "", "ops_headers": ""},
    shards_by="base",
    titled=lambda names: kernel_title(names, "TraceType"),
    registered=Registered(TEMPLATE, "trace_wrapper_registrations"),
    shards=shards,
)
