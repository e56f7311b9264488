"""Family: `variable_factories.h`, the wrappers of the factory functions. Its unit is a function, named by schema."""

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
    """The one header: functions as upstream parses them, those of native_functions.yaml in its order, then the
    generated ones. Overloads of an operator include the same line, once each, as upstream's do."""
    slots = {"ops_headers": INCLUDE, "function_definitions": DEFINITION}
    return [File(TEMPLATE, TEMPLATE, {}, slots, tuple(unit.name for unit in functions))]


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether a function has wrappers. It has to be callable as a function; methods and out variants never are."""
    return head.callable and (head.has_options or head.cpp_name.endswith("_like"))


def plan(function: NativeFunction, release: Release) -> FactoryPlan:
    """What is printed of a function."""
    from pipeline.families.factories.plan import plan_factory  # for those who print

    return plan_factory(function, release)


def render(plan: FactoryPlan, release: Release) -> dict[str, str]:
    """The pieces of its text."""
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
    needs=TEMPLATE,
    selects=selects,
    homes={"ops_headers": ""},
)
