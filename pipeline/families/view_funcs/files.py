"""Family: `ViewFuncs.h` and `ViewFuncs.cpp`, the classes that replay views. A unit is one function."""

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
    """The header and the source, with functions by C++ name. Each template has some of the holes."""
    names = tuple(unit.name for unit in functions)
    return [File(name, name, {}, dict(_SLOTS), names) for name in FILES]


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether a function returns a view without writing to its input, and its kernels are generated."""
    view = release.viewed(head.base) is not None and head.kind not in ("inplace", "out")
    return view and head.cpp_name not in release.manual_kernels


def plan(function: NativeFunction, release: Release) -> ViewFuncPlan:
    """The plan of a function. Raises SpecError as its planner does."""
    from pipeline.families.view_funcs.plan import plan_view_func  # only rendering needs it

    return plan_view_func(function, release)


def render(plan: ViewFuncPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
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
    subsets={"libtorch": ""},
    needs=FILES[0],
    selects=selects,
    homes=dict(zip(_SLOTS, ("", *FILES))),
    titled=lambda names: view_func(names.name),
)
