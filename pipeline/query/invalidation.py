"""Invalidation: from changed inputs to the rows that may be dirty.

A row's readers become dirty with it, and theirs: no memo is loaded for that. Tables end this. A dirty table is verified
at once, lower tables first, and only the readers of items that changed become dirty. A table that turns out to depend
on one that comes later becomes dirty again, until nothing changes any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from pipeline.query.engine import Engine
from pipeline.query.memo import Row, StoreDamaged, is_table

Queue = list[tuple[int, Row]]  # of tables by height
_TIMES = 10  # that a table becomes dirty, at most, in one invalidation: none that depend on each other end it


def invalidate(engine: Engine, changed: Iterable[Row]) -> None:
    """Marks rows dirty that may depend on changed rows, and verifies all dirty tables."""
    tables = [(_height(engine, row), row) for row in engine.dirty if is_table(row)]
    heapify(tables)
    times: Counter[Row] = Counter()
    _mark(engine, (reader for row in changed for reader in engine.readers(row)), tables)
    while tables:
        table = heappop(tables)[1]
        times[table] += 1
        if times[table] > _TIMES:
            raise StoreDamaged("its tables depend on each other")
        _mark(engine, _readers_of_changes(engine, table), tables)


def _mark(engine: Engine, readers: Iterable[Row], tables: Queue) -> None:
    """Marks rows dirty, and their readers, up to tables, which are added to the queue."""
    waiting = [reader for reader in readers if reader not in engine.dirty]
    while waiting:
        row = waiting.pop()
        if row not in engine.dirty:
            engine.dirty.add(row)
            if is_table(row):
                heappush(tables, (_height(engine, row), row))
            else:
                waiting += engine.readers(row)


def _height(engine: Engine, row: Row) -> int:
    call = engine.by_row(row)
    return 0 if call is None or call.memo is None else call.memo.height


def _readers_of_changes(engine: Engine, row: Row) -> Iterable[Row]:
    """Verifies a table; the readers of what changed in it."""
    table = engine.by_row(row)
    if table is None:  # its query no longer exists
        return engine.all_readers(row)
    engine.verify(table)
    if row not in engine.changed:
        return ()
    before = engine.changed[row]
    items = () if before is None else engine.items_of(before).changed(engine.items(table))
    return {reader for item in (None, *items) for reader in engine.readers(row, item)}
