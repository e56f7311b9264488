"""Family: `RegisterBackendSelect.cpp`, the kernels of factory functions that find the backend of the new tensor.

A unit is one function.

torchgen: `gen.needs_backend_select`, `gen.ComputeBackendSelect`.
"""

from __future__ import annotations

from gradmill.families.aten import InAten
from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionSummary
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["backend_select"].templates


class BackendSelect(InAten):
    """Selected functions in the order of parsing. Each overload includes the header of its operator."""

    name, label = "backend_select", "BackendSelect kernels"
    rendered = (INCLUDE, DEFINITION, REGISTRATION)
    slots = {
        "ops_headers": INCLUDE,
        "backend_select_method_definitions": DEFINITION,
        "backend_select_function_registrations": REGISTRATION,
    }
    kernel = "BackendSelect"
    selective = True

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function takes tensor options, and does not take those of an argument by default."""
        return head.has_options and not head.unqualified.endswith("_like") and not head.unqualified.startswith("new_")


BACKEND_SELECT = BackendSelect()
