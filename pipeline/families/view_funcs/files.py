"""Family: `ViewFuncs.h` and `ViewFuncs.cpp`, the classes that make views again. Its unit is a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.cpp.view_funcs import view_func
from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.model.native import FunctionHead, NativeFunction
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.families.view_funcs.plan import ViewFuncPlan

FILES = ("ViewFuncs.h", "ViewFuncs.cpp")
INCLUDE = "include"
DECLARATION = "declaration"
DEFINITION = "definition"

_SLOTS = {"ops_headers": INCLUDE, "view_func_declarations": DECLARATION, "view_func_definitions": DEFINITION}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The header and the source: functions by their C++ names. Each template has some of the holes."""
    names = tuple(unit.name for unit in functions)
    return [File(name, name, {}, dict(_SLOTS), names) for name in FILES]


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether a function makes a view out of place, and its kernels are generated."""
    view = release.viewed(head.base) is not None and head.kind not in ("inplace", "out")
    return view and head.cpp_name not in release.manual_kernels


def plan(function: NativeFunction, release: Release) -> ViewFuncPlan:
    """What is printed of a function."""
    from pipeline.families.view_funcs.plan import plan_view_func  # for those who print

    return plan_view_func(function, release)


def render(plan: ViewFuncPlan, release: Release) -> dict[str, str]:
    """The pieces of its text."""
    from pipeline.families.view_funcs import text

    return {
        INCLUDE: text.include(plan, release),
        DECLARATION: text.declaration(plan, release),
        DEFINITION: text.definition(plan, release),
    }


VIEW_FUNCS = Family(
    "view_funcs",
    "ViewFuncs",
    "kernel",
    "function",
    plan,
    render,
    files,
    FILES.__contains__,
    (INCLUDE, DECLARATION, DEFINITION),
    templates=FILES,
    needs=FILES[0],
    selects=selects,
    homes=dict(zip(_SLOTS, ("", *FILES))),
    titled=lambda names: view_func(names.name),
)
