"""Family: `variable_factories.h`, the wrappers of the factory functions. A unit is one function, named by schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.model.native import FunctionHead, NativeFunction
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.factories.plan import FactoryPlan

TEMPLATE = "variable_factories.h"
INCLUDE = "include"
DEFINITION = "definition"


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The one header. Functions are in upstream's order: first those of native_functions.yaml in file order, then the
    generated ones. Each overload repeats the `#include` of its operator, as upstream's do."""
    slots = {"ops_headers": INCLUDE, "function_definitions": DEFINITION}
    return [File(TEMPLATE, TEMPLATE, {}, slots, tuple(unit.name for unit in functions))]


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether a function has wrappers. It must be callable as a function, which methods and out variants are not."""
    return head.callable and (head.has_options or head.cpp_name.endswith("_like"))


def plan(function: NativeFunction, release: Release) -> FactoryPlan:
    """The plan of a function. Raises SpecError as its planner does."""
    from pipeline.families.factories.plan import plan_factory  # only rendering needs it

    return plan_factory(function, release)


def render(plan: FactoryPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
    from pipeline.families.factories import text

    return {INCLUDE: text.include(plan, release), DEFINITION: text.definition(plan, release)}


FACTORIES = Family(
    "factories",
    "factory functions",
    "function",
    "function",
    plan,
    render,
    files,
    TEMPLATE.__eq__,
    (INCLUDE, DEFINITION),
    templates=(TEMPLATE,),
    subsets={"libtorch": ""},
    needs=TEMPLATE,
    selects=selects,
    homes={"ops_headers": ""},
)
