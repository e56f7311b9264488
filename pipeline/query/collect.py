"""Garbage in a store: rows that nothing needs any more, what rows came to before, and values that no row has."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec
from msgspec import Struct

from pipeline.query.row import ABSENT, NAMES, Item, Name, Record, item_identity, packed_ids, unpacked, unpacked_ids
from pipeline.query.store import Store

_items_decoder = msgspec.msgpack.Decoder(dict[str, Item])


class Collected(Struct, frozen=True):
    """What was dropped from a store, and what is left."""

    removed: int  # rows
    kept: int
    removed_bytes: int
    kept_bytes: int


def collect(path: str, is_root: Callable[[Name], bool]) -> Collected | None:
    """Keeps the rows that roots were last made from, and no more. None where the file is not as a store left it, or
    cannot be replaced."""
    before = os.path.getsize(path) if os.path.exists(path) else 0
    old, new = Store(path), Store(path)
    try:
        old.begin()
        if not old.sound or old.empty:
            return None
        records = old.records()
        needed = _needed(old, records, is_root)
        new.begin_anew()
        for record in needed.values():
            raw = old.value(record.trace.digest)
            new.put({record.trace.digest: raw} if raw is not None else {})
        new.add_records(needed)
        new.add_readers((read, id_) for id_, record in needed.items() for read, _ in unpacked(record.trace.reads))
        named = ("noisy", "pending", "tables")
        notes = {note: packed_ids(unpacked_ids(old.note(note) or b"") & needed.keys()) for note in named}
        if not new.commit({**notes, "inputs": old.note("inputs") or b"\x80"}):
            return None
    finally:
        old.close()
        new.close()
    after = os.path.getsize(path)
    return Collected(len(records) - len(needed), len(needed), max(before - after, 0), after)


def _needed(old: Store, records: dict[bytes, Record], is_root: Callable[[Name], bool]) -> dict[bytes, Record]:
    """The roots, what they read, and the tables that these items are in."""
    table_of = {}
    for id_ in unpacked_ids(old.note("tables") or b"") & records.keys():
        trace = records[id_].trace
        items = _items_decoder.decode(trace.value or old.value(trace.digest) or b"\x80")
        table_of.update({item_identity(id_, item): id_ for item in (NAMES, ABSENT, *items)})
    needed: dict[bytes, Record] = {}
    waiting = [id_ for id_, record in records.items() if is_root(record.name)]
    while waiting:
        id_ = table_of.get(number := waiting.pop(), number)
        if id_ in records and id_ not in needed:
            needed[id_] = records[id_]
            waiting += [read for read, _ in unpacked(records[id_].trace.reads)]
    return needed
