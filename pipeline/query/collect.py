"""Garbage collection: copies what roots depend on to a new store."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.query.memo import Memo, Name, Row, is_table
from pipeline.query.store import Changes, Snapshot, Store
from pipeline.query.table import load_items


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
    reads = {row: memo.deps for row, memo in live.items()}
    dirty, reporting = (tuple(row for row in rows if row in live) for rows in (snapshot.dirty, snapshot.reporting))
    kept = new.commit(Changes(Snapshot(snapshot.inputs, dirty, reporting), live, {}, reads))
    return (len(memos), len(live)) if kept else None
