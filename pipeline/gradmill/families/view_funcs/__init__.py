"""Family: `ViewFuncs.h` and `ViewFuncs.cpp`, the classes that replay views. A unit is one function."""

from __future__ import annotations

from gradmill.cpp.view_funcs import view_func
from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE, Family
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionNames, FunctionSummary
from gradmill.releases.model import Release

HEADER, SOURCE = FAMILY_ROWS["view_funcs"].templates


class ViewFuncs(Family):
    """Functions by C++ name."""

    name, label = "view_funcs", "ViewFuncs"
    unit = "kernel"
    rendered = (INCLUDE, DECLARATION, DEFINITION)
    slots = {"ops_headers": INCLUDE, "view_func_declarations": DECLARATION, "view_func_definitions": DEFINITION}
    homes = {"ops_headers": "", "view_func_declarations": HEADER, "view_func_definitions": SOURCE}
    completes = "autograd cannot replay views"

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function returns a view without writing to its input, and its kernels are generated."""
        view = release.viewed(head.base) is not None and head.kind not in ("inplace", "out")
        return view and head.cpp_name not in release.manual_kernels

    def titled(self, names: FunctionNames) -> str:
        return view_func(names.name)


VIEW_FUNCS = ViewFuncs()
