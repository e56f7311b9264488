"""Garbage in a store: rows that nothing needs any more, what rows came to before, and values that no row has."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from pipeline.query.digest import MISSING, identity
from pipeline.query.row import Name, Record, packed_ids, unpacked, unpacked_ids
from pipeline.query.store import Store

_ITEM = "item"


class Collected(Struct, frozen=True):
    """What was dropped from a store, and what is left."""

    removed: int  # rows, and values of rows
    kept: int  # rows
    removed_bytes: int
    kept_bytes: int


def collect(path: str, is_root: Callable[[Name], bool]) -> Collected | None:
    """Drops all but the rows that roots were last made from. None where the file is not as a store left it, or where
    another process writes to it."""
    store = Store(path)
    if not store.untouched:
        return None
    before = os.path.getsize(path)
    try:
        store.begin()
        if store.empty:
            return None
        records = dict(store.rows())
        needed = _needed(records, is_root)
        readers: dict[int, set[int]] = {id_: set() for id_ in needed}
        for id_ in needed:
            for read in _reads(records[id_]):
                readers.setdefault(read, set()).add(id_)
        kept = {id_: found for id_, found in readers.items() if id_ in records}
        notes = {name: packed_ids(unpacked_ids(store.note(name) or b"") & kept.keys()) for name in ("noisy", "pending")}
        removed = store.reduce(kept, (records[id_].trace.digest for id_ in kept), notes)
        if removed < 0:
            return None
    finally:
        store.close()
    after = os.path.getsize(path)
    return Collected(removed, len(kept), max(before - after, 0), after)


def _needed(records: dict[int, Record], is_root: Callable[[Name], bool]) -> set[int]:
    """The roots, what they read, and the items of the tables among it."""
    needed: set[int] = set()
    waiting = [id_ for id_, record in records.items() if is_root(record.name)]
    while waiting:
        id_ = waiting.pop()
        if id_ in records and id_ not in needed:
            needed.add(id_)
            waiting += _reads(records[id_])
            if records[id_].name[0] == _ITEM:
                waiting.append(identity(records[id_].name[1:-1]))
    items = (id_ for id_, record in records.items() if record.name[0] == _ITEM and record.trace.digest != MISSING)
    return needed | {id_ for id_ in items if identity(records[id_].name[1:-1]) in needed}


def _reads(record: Record) -> list[int]:
    return [id_ for id_, _ in unpacked(record.trace.reads)]
