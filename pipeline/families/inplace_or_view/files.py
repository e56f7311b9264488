"""Family: `ADInplaceOrViewType_<k>.cpp`, the kernels that keep track of versions and views. Its unit is a function."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cpp.dispatcher import kernel_title
from pipeline.families.family import Family, Layout, pieces
from pipeline.families.file import File
from pipeline.families.inplace_or_view import text
from pipeline.families.inplace_or_view.plan import InplaceOrViewPlan, has_kernel, plan_inplace_or_view
from pipeline.families.sharded import sharded_files, shards_of
from pipeline.model.nodes import Outputs
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

NAME = "inplace_or_view"
TEMPLATE = "ADInplaceOrViewType.cpp"
SHARDS = 2
INCLUDE = "include"
DEFINITION = "definition"
REGISTRATION = "registration"

_OWN = regex(r"ADInplaceOrViewType(_\d+|Everything)\.cpp")
_SLOTS = {
    "ops_headers": INCLUDE,
    "inplace_or_view_method_definitions": DEFINITION,
    "inplace_or_view_wrapper_registrations": REGISTRATION,
}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The shards: functions by their C++ names, each overload with the header of its operator."""
    return sharded_files(TEMPLATE, shards_of(functions, layout, SHARDS), _SLOTS, NAME)


def owns(name: str) -> bool:
    """Whether a file of this family is called so."""
    return _OWN.fullmatch(name) is not None


def plan(given: Outputs, release: Release) -> InplaceOrViewPlan:
    """What is printed of a function."""
    return plan_inplace_or_view(given, release)


INPLACE_OR_VIEW = Family(
    NAME,
    "kernel",
    "outputs",
    plan,
    pieces({INCLUDE: text.include, DEFINITION: text.definition, REGISTRATION: text.registration}),
    files,
    owns,
    TEMPLATE,
    has_kernel,
    shards_by="base",
    titled=lambda names: kernel_title(names, "ADInplaceOrView"),
)
