"""Family: `variable_factories.h`, the wrappers of the factory functions. Its unit is a function, named by schema."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.factories import text as factory
from pipeline.families.factories.plan import FactoryPlan, is_factory, plan_factory
from pipeline.families.family import Family, Layout, pieces
from pipeline.families.file import File
from pipeline.model.native import NativeFunction
from pipeline.model.units import Unit
from pipeline.releases.model import Release

TEMPLATE = "variable_factories.h"
INCLUDE = "include"
DEFINITION = "definition"


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The one header: functions as upstream parses them, those of native_functions.yaml in its order, then the
    generated ones. Overloads of an operator include the same line, once each, as upstream's do."""
    slots = {"ops_headers": INCLUDE, "function_definitions": DEFINITION}
    return [File(TEMPLATE, TEMPLATE, {}, slots, tuple(unit.name for unit in functions), family="factories")]


def plan(function: NativeFunction, release: Release) -> FactoryPlan:
    """What is printed of a function."""
    return plan_factory(function, release)


FACTORIES = Family(
    "factories",
    "function",
    "function",
    plan,
    pieces({INCLUDE: factory.include, DEFINITION: factory.definition}),
    files,
    TEMPLATE.__eq__,
    TEMPLATE,
    is_factory,
)
