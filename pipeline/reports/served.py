"""Which functions share an operator's formulas. Reads the pairs of `match`."""

from __future__ import annotations

from pipeline.model.schema import SchemaKind
from pipeline.query.database import Database
from pipeline.stages.match import all_pairs
from pipeline.stages.schemas import all_heads


def served(db: Database) -> dict[tuple[str, str], dict[str, SchemaKind]]:
    """By function and dispatch key of an info: the other functions that it serves, and their kinds.

    Out variants are left out: nothing differentiates through them.
    """
    heads = dict(all_heads(db))
    found: dict[tuple[str, str], dict[str, SchemaKind]] = {}
    for pair in all_pairs(db):
        head = heads[pair.function]
        for key, function in (pair.source or {}).items():
            if function != pair.function and head.kind not in ("out", "scratch"):
                found.setdefault((function, key), {})[head.name] = head.kind
    return found
