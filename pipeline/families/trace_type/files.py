"""Family: `TraceType_<k>.cpp`, the kernels that record calls in a trace. Its unit is a function."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cpp.dispatcher import kernel_title
from pipeline.families.family import Family, Layout, pieces
from pipeline.families.file import File
from pipeline.families.sharded import sharded_files, shards_of
from pipeline.families.trace_type import text
from pipeline.families.trace_type.plan import TracePlan, is_generated, plan_trace
from pipeline.model.native import NativeFunction
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

NAME = "trace_type"
TEMPLATE = "TraceType.cpp"
INCLUDE = "include"
DEFINITION = "definition"
REGISTRATION = "registration"

_OWN = regex(r"TraceType(_\d+|Everything)\.cpp")
_SLOTS = {
    "ops_headers": INCLUDE,
    "trace_method_definitions": DEFINITION,
    "trace_wrapper_registrations": REGISTRATION,
}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The shards: functions as they are parsed, each overload with the header of its operator."""
    return sharded_files(TEMPLATE, shards_of(functions, layout, release.trace_shards), _SLOTS, NAME)


def owns(name: str) -> bool:
    """Whether a file of this family is called so."""
    return _OWN.fullmatch(name) is not None


def plan(function: NativeFunction, release: Release) -> TracePlan:
    """What is printed of a function."""
    return plan_trace(function, release)


TRACE_TYPE = Family(
    NAME,
    "function",
    "function",
    plan,
    pieces({INCLUDE: text.include, DEFINITION: text.definition, REGISTRATION: text.registration}),
    files,
    owns,
    TEMPLATE,
    is_generated,
    shards_by="base",
    titled=lambda names: kernel_title(names, "TraceType"),
)
