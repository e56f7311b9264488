"""Garbage in a store: rows that nothing needs any more, what rows came to before, and values that no row has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from msgspec import Struct

from pipeline.query.items import Items, outline_of
from pipeline.query.row import (
    ABSENT,
    NAMES,
    Name,
    Record,
    encode,
    identity,
    item_identity,
    packed_ids,
    unpacked,
    unpacked_ids,
)
from pipeline.query.store import Store


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
        tables = unpacked_ids(old.note("tables") or b"") & records.keys()
        needed = _needed(old, records, tables, is_root)
        new.begin_anew()
        for record in needed.values():
            stored = {found: old.value(found) for found in (record.trace.digest, *_parts(old, record, tables))}
            new.put({found: raw for found, raw in stored.items() if raw is not None})
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


def _items(old: Store, record: Record) -> Items | None:
    """The items of a table, None where they are lost."""
    outline = outline_of(record.trace.value or old.value(record.trace.digest) or b"")
    return None if outline is None else Items(outline, lambda found: old.value(found) or encode([]))


def _parts(old: Store, record: Record, tables: set[bytes]) -> Iterable[bytes]:
    """The digests that the items of a row are stored under, where it is one of the tables."""
    items = _items(old, record) if identity(record.name) in tables else None
    return () if items is None else items.parts()


def _needed(
    old: Store, records: dict[bytes, Record], tables: set[bytes], is_root: Callable[[Name], bool]
) -> dict[bytes, Record]:
    """The roots, what they read, and the tables that these items are in."""
    table_of = {}
    for id_ in tables:
        items = _items(old, records[id_])
        names = () if items is None else items.names()
        table_of.update({item_identity(id_, item): id_ for item in (NAMES, ABSENT, *names)})
    needed: dict[bytes, Record] = {}
    waiting = [id_ for id_, record in records.items() if is_root(record.name)]
    while waiting:
        id_ = table_of.get(number := waiting.pop(), number)
        if id_ in records and id_ not in needed:
            needed[id_] = records[id_]
            waiting += [read for read, _ in unpacked(records[id_].trace.reads)]
    return needed
