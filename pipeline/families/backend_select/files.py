"""Family: `RegisterBackendSelect.cpp`, the kernels of factory functions that find the backend of the new tensor.

A unit is one function.

torchgen: `gen.needs_backend_select`, `gen.ComputeBackendSelect`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.aten import by_script
from pipeline.families.family import DEFINITION, INCLUDE, REGISTRATION, Family, Layout
from pipeline.families.file import File
from pipeline.model.native import FunctionHead
from pipeline.model.units import Unit
from pipeline.releases.model import Release

TEMPLATE = "ATen/RegisterBackendSelect.cpp"


class BackendSelect(Family):
    """Selected functions in the order of parsing. Each overload includes the header of its operator."""

    name, label = "backend_select", "BackendSelect kernels"
    templates, needs = (TEMPLATE,), TEMPLATE
    rendered = (INCLUDE, DEFINITION, REGISTRATION)
    slots = {
        "ops_headers": INCLUDE,
        "backend_select_method_definitions": DEFINITION,
        "backend_select_function_registrations": REGISTRATION,
    }
    kernel, folder = "BackendSelect", "ATen"
    described = by_default = False
    selective = True
    subsets = {"aten": "", "sources": ""}

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The one file."""
        return by_script(super().files(units, layout, release))

    def selects(self, head: FunctionHead, release: Release) -> bool:
        """Whether a function takes tensor options, and does not take those of an argument by default."""
        return head.has_options and not head.unqualified.endswith("_like") and not head.unqualified.startswith("new_")


BACKEND_SELECT = BackendSelect()
