"""Garbage collection: copies what roots depend on to a new store."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from pipeline.query.memo import Memo, Name, Row, StoreDamaged, is_table
from pipeline.query.store import Changes, Readers, Snapshot, Store
from pipeline.query.table import load_items
from pipeline.store.sqlite import SqliteStore, files_of, size_of


class Collected(Struct, frozen=True):
    """What was removed, and what is left."""

    removed: int  # rows
    kept: int
    removed_bytes: int
    kept_bytes: int


def collect(path: str, is_root: Callable[[Name], bool]) -> Collected | None:
    """Collects the store at a path, and deletes a damaged one. None if there is none, or it cannot be replaced."""
    before = size_of(path)
    old, new = SqliteStore(path), SqliteStore(path)
    try:
        rows = copy_live(old, new, is_root)
    except StoreDamaged:
        for file in files_of(path):
            with suppress(OSError):
                os.unlink(file)
        return Collected(0, 0, before, 0)
    finally:
        old.close()
        new.close()
    if rows is None:
        return None
    after = size_of(path)
    return Collected(rows[0] - rows[1], rows[1], max(before - after, 0), after)


def copy_live(old: Store, new: Store, is_root: Callable[[Name], bool]) -> tuple[int, int] | None:
    """Commits the latest memos of all that roots depend on, and no more, to a new store. The numbers of rows before and
    after, None if the new store cannot be written. Raises StoreDamaged."""
    snapshot, _ = old.begin()
    memos = {row: memo for row in old.rows() if (memo := old.memo(row)) is not None}
    if not memos or old.problem:
        return None
    new.discard()
    live: dict[Row, Memo] = {}
    waiting = [row for row, memo in memos.items() if is_root(memo.name)]
    while waiting:
        row = waiting.pop()
        if row in memos and row not in live:
            live[row] = memos[row]
            waiting += [dep.row for dep in live[row].deps]
    for row, memo in live.items():
        keys = [memo.digest] if memo.value == b"" else []
        if is_table(row):
            keys += load_items(memo.value or old.value(memo.digest), old.value).parts()
        for key in keys:
            new.put(key, old.value(key))
    readers = Readers()
    for row, memo in live.items():
        readers.add(memo.deps, row)
    dirty, reporting = (tuple(row for row in rows if row in live) for rows in (snapshot.dirty, snapshot.reporting))
    kept = new.commit(Changes(Snapshot(snapshot.inputs, dirty, reporting), live, {}, readers))
    return (len(memos), len(live)) if kept else None
