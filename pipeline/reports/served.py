"""Which functions share an operator's formulas."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.matched import Matched
from pipeline.model.functions import FunctionTable
from pipeline.model.schema import SchemaKind


def served(functions: FunctionTable, matches: Iterable[Matched]) -> dict[tuple[str, str], dict[str, SchemaKind]]:
    """By schema and dispatch key of an info: the other functions that it serves, and their kinds.

    Out variants are left out: nothing differentiates through them.
    """
    found: dict[tuple[str, str], dict[str, SchemaKind]] = {}
    for matched in matches:
        head = functions.heads[functions.by_schema[matched.func]]
        for key, schema in (matched.source or {}).items():
            if schema != matched.func and head.kind not in ("out", "scratch"):
                found.setdefault((schema, key), {})[head.name] = head.kind
    return found
