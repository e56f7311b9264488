"""Which rows may be stale: those that read something that changed, and their readers, and theirs.

Tables end the spread: a table is brought up to date as soon as it is met, and only the readers of items that came out
different are doubted. Rows are met in the order of their height, so that all below a table is settled before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from pipeline.query.query import Table
from pipeline.query.row import INPUT, Row
from pipeline.query.rows import Damaged, Rows


def spread(rows: Rows, changed: Iterable[int], carried: Iterable[int], bring: Callable[[Row], None]) -> None:
    """Doubts the readers of `changed` rows, and the rows `carried` over from an earlier round with what they read."""
    assert rows.touched is not None
    moved = rows.moved = []
    waiting: list[tuple[int, int]] = []
    for id_ in carried:
        _doubt(rows, id_, waiting)
    for id_ in changed:
        rows.touched.add(id_)
        _doubt_readers(rows, id_, waiting)
    while waiting:
        row = rows.numbered(heappop(waiting)[1])
        assert row is not None
        if not isinstance(row.query, Table):
            _doubt_readers(rows, row.id, waiting)
            continue
        if not row.fresh:
            bring(row)
        while moved:
            _doubt_readers(rows, moved.pop(), waiting)


def _doubt_readers(rows: Rows, id_: int, waiting: list[tuple[int, int]]) -> None:
    for reader in rows.readers_of(id_):
        _doubt(rows, reader, waiting)


def _doubt(rows: Rows, id_: int, waiting: list[tuple[int, int]]) -> None:
    row = rows.numbered(id_)
    assert rows.touched is not None
    if row is None:
        if not rows.was_dropped(id_):
            raise Damaged
    elif row.name[0] != INPUT and (row.fresh or id_ not in rows.touched):
        rows.touched.add(id_)
        row.fresh = False
        heappush(waiting, (row.height, id_))
