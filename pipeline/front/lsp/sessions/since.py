"""What changed since the last run, over as many rounds of the database as keys were pressed.

A database tells what its last round replaced. Here that is carried from round to round: for each row its state at the
beginning, for each item of a table what it gives by now. What went back to that state is told as unchanged.
"""

from __future__ import annotations

from pipeline.query.database import Database
from pipeline.query.row import Trace


class Since:
    """What was replaced since a moment."""

    def __init__(self) -> None:
        self._before: dict[bytes, Trace | None] = {}  # rows as they were at that moment
        self._moved: dict[bytes, bytes] = {}  # items that came out different, and what they give now

    def begin(self, db: Database) -> None:
        """Behind the beginning of a round: what it replaces counts from the moment on."""
        db.before.update(self._before)

    def end(self, db: Database) -> None:
        """When a round has brought all up to date."""
        self._before = dict(db.before)
        self._moved.update(db.rows.moved)
        db.rows.moved.update(self._moved)
