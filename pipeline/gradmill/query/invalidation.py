"""Invalidation: from changed inputs to the rows that may be dirty.

A row's readers become dirty with it, and theirs: no memo is loaded for that. Tables end this. A dirty table is verified
at once, lower tables first, and only the readers of items that changed become dirty. A table that turns out to depend
on one that comes later becomes dirty again, until nothing changes any more.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from gradmill.query.engine import Engine
from gradmill.query.memo import Row, is_table

Tables = list[tuple[int, Row]]  # dirty tables that are not verified yet, with their heights: lower ones first


def invalidate(engine: Engine, changed: Iterable[Row]) -> None:
    """Marks rows dirty that may depend on changed rows, and verifies all dirty tables."""
    tables = sorted((_height(engine, row), row) for row in filter(is_table, engine.dirty))
    _mark(engine, (reader for row in changed for reader in engine.readers(row)), tables)
    while tables:
        _mark(engine, _readers_of_changes(engine, tables.pop(0)[1]), tables)


def _mark(engine: Engine, readers: Iterable[Row], tables: Tables) -> None:
    """Marks rows dirty, and their readers, up to tables, which are added to `tables`."""
    waiting = [reader for reader in readers if reader not in engine.dirty]
    while waiting:
        row = waiting.pop()
        if row not in engine.dirty:
            engine.dirty.add(row)
            if is_table(row):
                insort(tables, (_height(engine, row), row))
            else:
                waiting += engine.readers(row)


def _height(engine: Engine, row: Row) -> int:
    call = engine.by_row(row)
    return 0 if call is None or call.memo is None else call.memo.height


def _readers_of_changes(engine: Engine, row: Row) -> Iterable[Row]:
    """Verifies a table; the readers of what changed in it."""
    table = engine.by_row(row)
    if table is None:  # its query no longer exists
        return engine.readers(row, None)
    try:
        engine.verify(table)
    except Exception as error:
        if not engine.is_bug(error):
            raise
        return engine.readers(row, None)  # it stays dirty: who requests it gets the error
    if row not in engine.changed:
        return ()
    before = engine.changed[row]
    items = {} if before is None else engine.items_of(before).changed(engine.items(table))
    return engine.readers(row, {None, *items})
