"""Which functions share an operator's formulas. Reads the pairs of the stage `match`."""

from __future__ import annotations

from pipeline.model.schema import SchemaKind
from pipeline.query.database import Database
from pipeline.stages.match import all_pairs
from pipeline.stages.schemas import all_heads


def served(db: Database) -> dict[tuple[str, str], dict[str, SchemaKind]]:
    """The other functions that an info serves, with their kinds; by the info's function and dispatch key.

    Out variants are not included: autograd does not differentiate through them.
    """
    heads = dict(all_heads(db))
    variants: dict[tuple[str, str], dict[str, SchemaKind]] = {}
    for pair in all_pairs(db):
        head = heads[pair.function]
        for key, function in (pair.source or {}).items():
            if function != pair.function and head.kind not in ("out", "scratch"):
                variants.setdefault((function, key), {})[head.name] = head.kind
    return variants
