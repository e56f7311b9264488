"""Family: `ViewFuncs.h` and `ViewFuncs.cpp`, the classes that make views again. Its unit is a function."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cpp.view_funcs import view_func
from pipeline.families.family import Family, Layout, pieces
from pipeline.families.file import File
from pipeline.families.view_funcs import text
from pipeline.families.view_funcs.plan import ViewFuncPlan, makes_view, plan_view_func
from pipeline.model.native import NativeFunction
from pipeline.model.units import Unit
from pipeline.releases.model import Release

NAME = "view_funcs"
FILES = ("ViewFuncs.h", "ViewFuncs.cpp")
INCLUDE = "include"
DECLARATION = "declaration"
DEFINITION = "definition"

_SLOTS = {"ops_headers": INCLUDE, "view_func_declarations": DECLARATION, "view_func_definitions": DEFINITION}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The header and the source: functions by their C++ names. Each template has some of the holes."""
    names = tuple(unit.name for unit in functions)
    return [File(name, name, {}, dict(_SLOTS), names, family=NAME) for name in FILES]


def plan(function: NativeFunction, release: Release) -> ViewFuncPlan:
    """What is printed of a function."""
    return plan_view_func(function, release)


VIEW_FUNCS = Family(
    NAME,
    "kernel",
    "function",
    plan,
    pieces({INCLUDE: text.include, DECLARATION: text.declaration, DEFINITION: text.definition}),
    files,
    FILES.__contains__,
    FILES[0],
    makes_view,
    titled=lambda names: view_func(names.name),
)
