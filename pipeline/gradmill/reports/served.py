"""Which functions share an operator's formulas. Reads the pairs of the stage `match`."""

from __future__ import annotations

from gradmill.model.entries import by_key
from gradmill.query.database import Database
from gradmill.stages.match import all_pairs
from gradmill.stages.schemas import all_heads

NOT_DIFFERENTIATED = ("out", "scratch")  # kinds of functions that autograd does not differentiate through


def served(db: Database) -> dict[tuple[str, str], list[str]]:
    """The other functions that an info serves, by the info's function and dispatch key."""
    heads = dict(all_heads(db))
    return by_key(
        ((function, key), pair.function)
        for pair in all_pairs(db)
        if heads[pair.function].kind not in NOT_DIFFERENTIATED
        for key, function in (pair.source or {}).items()
        if function != pair.function
    )
