"""Family: `variable_factories.h`, the wrappers of the factory functions. A unit is one function, named by schema."""

from __future__ import annotations

from gradmill.families.family import DEFINITION, INCLUDE, Family
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionSummary
from gradmill.releases.model import Release

(TEMPLATE,) = FAMILY_ROWS["factories"].templates


class Factories(Family):
    """Functions in upstream's order: first those of native_functions.yaml in file order, then the generated ones. Each
    overload repeats the `#include` of its operator, as upstream's do."""

    name, label = "factories", "factory functions"
    rendered = (INCLUDE, DEFINITION)
    slots = {"ops_headers": INCLUDE, "function_definitions": DEFINITION}
    homes = {"ops_headers": ""}

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function has wrappers: it must be callable as a function, unlike methods and out variants."""
        return head.callable and (head.has_options or head.cpp_name.endswith("_like"))


FACTORIES = Factories()
