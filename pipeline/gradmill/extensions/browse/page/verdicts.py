"""What `verify` found about the formulas of each Node, for pages."""

from __future__ import annotations

import msgspec

from gradmill.query.database import Database
from gradmill.query.query import table

VERDICTS = "verdicts"  # the input with a line for each Node; missing if nothing was verified


@table
def verdicts(db: Database) -> dict[str, str]:
    """The line about each Node."""
    data = db.input(VERDICTS)
    return {} if data is None else msgspec.msgpack.decode(data, type=dict[str, str])
