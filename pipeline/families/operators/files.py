"""Family: the structs of `at::_ops` by which all C++ calls operators: a header for each operator, `add_ops.h`, headers
that include these, and sources, `Operators_<k>.cpp`. A unit is one function.

torchgen: `gen.ComputeOperators`, `gen.gen_per_operator_headers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pipeline.families.aten import by_script
from pipeline.families.family import DECLARATION, DEFINITION, INCLUDE, OPERATORS, Layout, OperatorHeader
from pipeline.families.file import File
from pipeline.families.sharded import Sharded
from pipeline.model.native import FunctionHead, FunctionNames
from pipeline.model.units import Unit
from pipeline.releases.model import Release

HEADER, METHODS, SOURCE = "ATen/Operators.h", "ATen/MethodOperators.h", "ATen/Operators.cpp"
OPERATOR = "ATen/Operator.h"
_NO_BACKENDS: dict[str, str | list[str]] = {"static_dispatch_extra_headers": []}


class OperatorStructs(Sharded):
    """Functions in the order of parsing. Each overload includes the header of its operator in the sources."""

    name, label = "operators", "operators"
    templates, needs = (OPERATOR, HEADER, METHODS, SOURCE), OPERATOR
    rendered = (INCLUDE, DECLARATION, DEFINITION)
    slots = {"operator_headers": INCLUDE, "definitions": DEFINITION}
    homes = {"Operators_includes": HEADER, "Operators_declarations": HEADER, "static_dispatch_extra_headers": ""}
    lists = ("methods",)
    shards_by = "base"
    folder, folders = "ATen", (OPERATORS,)
    described = by_default = False
    subsets = {"aten": "", "headers": ("Operator.h", "Operators.h", "MethodOperators.h"), "sources": "Operators.cpp"}

    def headers(self, release: Release) -> tuple[OperatorHeader, ...]:
        """The header of an operator, which declares all its overloads."""
        return (OperatorHeader("_ops", OPERATOR, {"declarations": DECLARATION}),)

    def titled(self, names: FunctionNames) -> str:
        """The name of the struct."""
        return f"at::_ops::{names.name.replace('.', '_')}"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The headers that include those of operators, and the sources."""
        included = _includes(sorted({unit.operator for unit in units}))
        methods = sorted(_includes(layout.lists["methods"]))
        headers = [
            File("Operators.h", HEADER, {"Operators_includes": included, "Operators_declarations": []}, {}, ()),
            File(
                "MethodOperators.h",
                METHODS,
                {"MethodOperators_includes": methods, "MethodOperators_declarations": []},
                {},
                (),
            ),
        ]
        sources = [replace(file, constants=_NO_BACKENDS) for file in super().files(units, layout, release)]
        return by_script(headers + sources + self.header_files(units, release))

    def shard_count(self, release: Release) -> int:
        return 5

    def selects(self, head: FunctionHead, release: Release) -> bool:
        """True: all functions are operators."""
        return True

    def owns(self, name: str) -> bool:
        """Whether a file name belongs to the family, in any layout."""
        is_header = name.startswith(f"{OPERATORS}/") and name.endswith("_ops.h")
        return is_header or name in ("Operators.h", "MethodOperators.h") or super().owns(name)


def _includes(roots: Iterable[str]) -> list[str]:
    """The `#include`s of operators' headers."""
    return [f"#include <ATen/ops/{root}_ops.h>" for root in roots]


STRUCTS = OperatorStructs()
