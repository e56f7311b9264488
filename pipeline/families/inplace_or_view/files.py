"""Family: `ADInplaceOrViewType_<k>.cpp`, the kernels that track versions and views. A unit is one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.cpp.kernel_names import kernel_title
from pipeline.families.family import Family, Layout, Registered
from pipeline.families.file import File
from pipeline.families.sharded import DECLARATION, DEFINITION, REGISTRATION, sharded_files, shards_of
from pipeline.model.native import FunctionHead
from pipeline.model.nodes import Outputs
from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.inplace_or_view.plan import InplaceOrViewPlan

TEMPLATE = "ADInplaceOrViewType.cpp"
SHARDS = 2
INCLUDE = "include"

_OWN = regex(r"ADInplaceOrViewType(_\d+|Everything)\.cpp")
_SLOTS = {
    "ops_headers": INCLUDE,
    "inplace_or_view_method_definitions": DEFINITION,
    "inplace_or_view_wrapper_registrations": REGISTRATION,
}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The shards: functions by C++ name. Each overload includes the header of its operator."""
    return sharded_files(TEMPLATE, shards(functions, layout, release), _SLOTS, layout)


def shards(functions: Sequence[Unit], layout: Layout, release: Release) -> dict[str, tuple[str, ...]]:
    """The names of functions by shard."""
    return shards_of(functions, layout, SHARDS)


def owns(name: str) -> bool:
    """Whether a file name belongs to this family."""
    return _OWN.fullmatch(name) is not None


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether a function has a generated kernel. A function that returns nothing has no version to increment."""
    if head.cpp_name in release.manual_kernels:
        return False
    counted = head.kind in ("inplace", "out") and not head.schema.endswith(" -> ()")
    return counted or release.viewed(head.base) is not None


def plan(outputs: Outputs, release: Release) -> InplaceOrViewPlan:
    """The plan of a function's kernels. Raises SpecError as its planner does."""
    from pipeline.families.inplace_or_view.plan import plan_inplace_or_view  # only rendering needs it

    return plan_inplace_or_view(outputs, release)


def render(plan: InplaceOrViewPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
    from pipeline.families.inplace_or_view import text

    return {
        INCLUDE: text.include(plan, release),
        DEFINITION: text.definition(plan, release),
        REGISTRATION: text.registration(plan, release),
    }


INPLACE_OR_VIEW = Family(
    "inplace_or_view",
    "ADInplaceOrView kernels",
    "kernel",
    "outputs",
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
    titled=lambda names: kernel_title(names, "ADInplaceOrView"),
    registered=Registered(TEMPLATE, "inplace_or_view_wrapper_registrations"),
    shards=shards,
)
