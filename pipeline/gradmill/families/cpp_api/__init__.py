"""Family: the C++ functions and methods of operators: `ops/add.h`, `core/TensorBody.h`, `RedispatchFunctions.h`. A unit
is one function.

torchgen: `gen.gen_headers`, `gen.gen_per_operator_headers`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.aten import InAten
from gradmill.families.family import INCLUDE, OPERATORS, Layout
from gradmill.families.file import ANY, Content, File, pieces_in
from gradmill.model.units import Unit
from gradmill.releases.model import Release

FUNCTION, REDISPATCH, METHOD_DECLARATION, METHOD = "function", "redispatch", "method_declaration", "method"
HEADER, ALL, CLASS = "Function.h", "Functions.h", "TensorBody.h"
REDISPATCHING, SOURCE, METHODS = "RedispatchFunctions.h", "Functions.cpp", "TensorMethods.cpp"
_IN_CORE = (CLASS, METHODS)


class CppApi(InAten):
    """Functions in the order of parsing. Two sources have no function: upstream copies their templates."""

    name, label = "cpp_api", "C++ functions"
    rendered = (INCLUDE, FUNCTION, REDISPATCH, METHOD_DECLARATION, METHOD)
    folders = ("ops", "core")
    shards_by = "base"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The headers of operators, each with the functions of all its overloads, that which includes them, the class
        of tensors, the functions that redispatch, and the sources."""
        names = tuple(unit.name for unit in units)
        if layout.operator_headers:
            included = [f"#include <ATen/ops/{base}.h>" for base in sorted({unit.shard_key for unit in units})]
        else:
            included = ["#include <ATen/Operators.h>"]
        header: dict[str, Content] = {"operator_includes": f"#include <ATen/ops/{ANY}_ops.h>"}
        header |= pieces_in({"static_dispatch_ops_headers": INCLUDE, "function_definitions": FUNCTION})
        methods = {"tensor_method_declarations": METHOD_DECLARATION, "tensor_method_definitions": METHOD}
        holes: dict[str, dict[str, Content]] = {
            ALL: {"Functions_includes": included, **pieces_in({"Functions_declarations": FUNCTION})},
            CLASS: pieces_in(methods),
            REDISPATCHING: pieces_in({"function_redispatch_definitions": REDISPATCH}),
            SOURCE: {},
            METHODS: {},
        }
        with_units = (CLASS, REDISPATCHING) if layout.operator_headers else (ALL, CLASS, REDISPATCHING)
        listed = [
            File(
                name=f"core/{name}" if name in _IN_CORE else name,
                template=f"ATen/{name}",
                holes=own,
                units=names if name in with_units else (),
            )
            for name, own in holes.items()
        ]
        of_each = File(name=f"{OPERATORS}/{ANY}.h", template=f"ATen/{HEADER}", holes=header, units=names)
        return [of_each, *listed] if layout.operator_headers else listed

    def owns(self, name: str) -> bool:
        return name.startswith("ops/") or name.removeprefix("core/") in (ALL, CLASS, REDISPATCHING, SOURCE, METHODS)


CPP_API = CppApi()
