"""Garbage in a store: rows that nothing needs any more, what rows came to before, and values that no row has."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec
from msgspec import Struct

from pipeline.query.row import (
    ITEM,
    Item,
    Name,
    Record,
    encode,
    identity,
    packed_ids,
    sealed,
    unpacked,
    unpacked_ids,
    unsealed,
)
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
        tables = unpacked_ids(old.note("tables") or b"")
        needed = _needed(old, records, tables, is_root)
        new.begin_anew()
        readers: dict[int, list[int]] = {}
        for id_ in sorted(needed):
            _move(old, new, records[id_], table=id_ in tables)
            for read, _ in unpacked(records[id_].trace.reads):
                readers.setdefault(read, []).append(id_)
        new.add_records((id_, records[id_]) for id_ in sorted(needed))
        new.add_readers(readers)
        notes = {n: packed_ids(unpacked_ids(old.note(n) or b"") & needed) for n in ("noisy", "pending", "tables")}
        if not new.commit({**notes, "inputs": old.note("inputs") or b"\x80"}):
            return None
    finally:
        old.close()
        new.close()
    after = os.path.getsize(path)
    return Collected(len(records) - len(needed), len(needed), max(before - after, 0), after)


def _needed(old: Store, records: dict[int, Record], tables: set[int], is_root: Callable[[Name], bool]) -> set[int]:
    """The roots, what they read, and the tables that these items are in."""
    table_of = {
        identity((ITEM, *records[id_].name, item)): id_
        for id_ in tables & records.keys()
        for item in _items_decoder.decode(unsealed(old.object(records[id_].trace.at)) or b"\x80")
    }
    needed: set[int] = set()
    waiting = [id_ for id_, record in records.items() if is_root(record.name)]
    while waiting:
        id_ = table_of.get(number := waiting.pop(), number)
        if id_ in records and id_ not in needed:
            needed.add(id_)
            waiting += [read for read, _ in unpacked(records[id_].trace.reads)]
    return needed


def _move(old: Store, new: Store, record: Record, *, table: bool) -> None:
    """Puts the values of a row into another store."""
    trace = record.trace
    data = old.object(trace.at)
    if table:
        items = _items_decoder.decode(unsealed(data) or b"\x80")
        for item in items.values():
            found = old.object(item.at)
            item.at = 0 if found is None else new.put([found])
        data = sealed(encode(items))
    trace.at = 0 if data is None else new.put([data])
