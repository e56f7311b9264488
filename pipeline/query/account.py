"""What a round came to: problems, what changed and why, what nothing needs any more."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import Struct

from pipeline.io.files import stat_of
from pipeline.query.database import Database
from pipeline.query.query import Table
from pipeline.query.row import (
    ABSENT,
    ITEM,
    MISSING,
    NAMES,
    READ,
    Items,
    Name,
    Record,
    Row,
    digest_of,
    identity,
    item_identity,
    outline_of,
    packed_ids,
    places,
    unpacked,
    unpacked_ids,
)
from pipeline.query.store import Store
from pipeline.query.values import StoreDamaged

Change = Literal["added", "changed", "deleted"]
Root = tuple[Any, ...]  # a query, and its key


def problems(db: Database, roots: Iterable[Root], type_: Any) -> list[Any]:
    """The problems of all rows that `roots` are made from, decoded as `type_`. Brings these up to date."""
    roots = list(roots)
    return db.attempt(lambda: _problems(db, roots, type_))


def _problems(db: Database, roots: Iterable[Root], type_: Any) -> list[Any]:
    for query, *args in roots:
        db.digest(query, *args)
    live = {identity((query.name, *args)): True for query, *args in roots}
    found = []
    for id_ in sorted(db.noisy):
        row = db.rows.numbered(id_)
        if row is not None and row.trace is not None and _is_live(db, row, live):
            found += [msgspec.msgpack.decode(problem, type=type_) for problem in row.trace.problems]
    return found


def ran_for(db: Database, root: Root, wanted: Callable[[Name], bool]) -> bool:
    """Whether rows of a kind ran in this round that a root is made from, by way of such rows: others may run that
    nobody needs any more."""
    query, *args = root
    top = db.rows.named((query.name, *args))
    ran = [db.rows.named(name) for name in db.ran if wanted(name)]
    near = {id_ for id_, _ in unpacked(top.trace.reads)} if top.trace is not None else set()
    if not near.isdisjoint(id_ for row in ran for id_ in (row.id, item_identity(row.id, NAMES))):
        return True  # as is mostly so
    live = {top.id: True}
    return db.attempt(lambda: any(_is_live(db, row, live, wanted) for row in ran))


def _is_live(
    db: Database, row: Row, live: dict[bytes, bool], within: Callable[[Name], bool] = lambda name: True
) -> bool:
    """Whether a root is made from a row: by way of the rows that read it, as far as these are of a kind."""
    known = live.get(row.id)
    if known is not None:
        return known
    live[row.id] = False
    if not row.fresh:
        return False
    items = (NAMES, ABSENT, *db.rows.items(row).names()) if isinstance(row.query, Table) else ()
    for id_ in (row.id, *(item_identity(row.id, item) for item in items)):
        readers = sorted(db.rows.readers.of(id_), key=lambda reader: not live.get(reader))  # first what is live
        if any(_reads(db, reader, id_, live, within) for reader in readers):
            live[row.id] = True
            return True
    return False


def _reads(db: Database, reader: bytes, id_: bytes, live: dict[bytes, bool], within: Callable[[Name], bool]) -> bool:
    """Whether a row of a kind that a root is made from reads another one."""
    if live.get(reader) is False:
        return False
    row = db.rows.numbered(reader)
    if row is None or not within(row.name):
        live[reader] = False
        return False
    if row.trace is None or next(places(row.trace.reads, id_, READ), None) is None:
        return False
    return _is_live(db, row, live, within)


def digest_of_all(db: Database, root: Name, wanted: Callable[[Name], bool]) -> bytes:
    """The digest of all rows of a kind that a row which holds is made from, by way of such rows."""
    found: dict[Name, bytes] = {}
    waiting = [root]
    while waiting:
        row = db.rows.named(waiting.pop())
        if row.name not in found and wanted(row.name):
            found[row.name] = row.digest
            names = map(db.rows.name_of, (id_ for id_, _ in unpacked(row.trace.reads if row.trace else b"")))
            waiting += [name[1:-1] if name[0] == ITEM else name for name in names if name is not None]
    return digest_of(*sorted(found.values()))


def reads(db: Database, name: Name) -> list[Name]:
    """What a row read when it was made, by name."""
    row = db.rows.named(name)
    found = (db.rows.name_of(id_) for id_, _ in unpacked(row.trace.reads)) if row.trace is not None else ()
    return [read for read in found if read is not None and read[-1] != ABSENT]


def changes(db: Database, name: Name) -> list[Name] | None:
    """Why a row was replaced in this round: what it had read that gives something else now. None where it had never
    been made. Looks at nothing that nobody has asked for in this round."""
    row = db.rows.by_name.get(name)
    if row is None or row.id not in db.before:
        return []
    before = db.before[row.id]
    if before is None:
        return None
    changed = (id_ for id_, given in unpacked(before.reads) if db.rows.known(id_, given) != given)
    return [read for read in map(db.rows.name_of, changed) if read is not None]


def changed_items(db: Database, table: Table[Any, Any], *args: Any) -> dict[str, Change]:
    """The items that a table gives otherwise than before this round."""
    return db.attempt(lambda: _changed_items(db, table, args))


def _changed_items(db: Database, table: Table[Any, Any], args: tuple[Any, ...]) -> dict[str, Change]:
    db.digest(table, *args)
    row = db.rows.named((table.name, *args), table)
    if row.id not in db.before:
        return {}
    trace = db.before[row.id]
    before, after = None if trace is None else db.rows.items_of(trace), db.rows.items(row)
    if before is None:
        return dict.fromkeys(after.names(), "added")
    moved = before.changed(after)
    ordered = (*after.names(), *(name for name, now in moved.items() if now == MISSING))
    return {
        name: "deleted" if moved[name] == MISSING else "changed" if before.get(name) is not None else "added"
        for name in ordered
        if name in moved
    }


# ---- garbage


class Collected(Struct, frozen=True):
    """What was dropped from a store, and what is left."""

    removed: int  # rows
    kept: int
    removed_bytes: int
    kept_bytes: int


def collect(path: str, is_root: Callable[[Name], bool]) -> Collected | None:
    """Keeps the rows that roots were last made from, and no more; nothing of a store that is damaged. None where there
    is no store, or none that can be replaced."""
    before = size_of(path)
    old, new = Store(path), Store(path)
    try:
        old.begin()
        if old.empty or old.problem:
            return None
        records = old.records()
        tables = unpacked_ids(old.note("tables")) & records.keys()
        needed = _needed(old, records, tables, is_root)
        new.begin_anew()
        for record in needed.values():
            stored = {found: old.values.get(found) for found in (record.trace.digest, *_parts(old, record, tables))}
            new.add_values({found: raw for found, raw in stored.items() if raw is not None})
        reads = ((read, id_) for id_, record in needed.items() for read, _ in unpacked(record.trace.reads))
        named = ("noisy", "pending", "tables")
        notes = {note: packed_ids(unpacked_ids(old.note(note)) & needed.keys()) for note in named}
        if not new.commit({**notes, "inputs": old.note("inputs")}, needed, {}, reads):
            return None
    except StoreDamaged:
        for file in old.paths:
            with suppress(OSError):
                os.unlink(file)
        return Collected(0, 0, before, 0)
    finally:
        old.close()
        new.close()
    after = size_of(path)
    return Collected(len(records) - len(needed), len(needed), max(before - after, 0), after)


def size_of(path: str) -> int:
    """The bytes that a store takes on the disk."""
    return sum(stat[0] for stat in map(stat_of, Store(path).paths) if stat is not None)


def _items(old: Store, record: Record) -> Items | None:
    """The items of a table, None where it was none yet."""
    outline = outline_of(record.trace.value or old.values.get(record.trace.digest) or b"")
    return None if outline is None else Items(outline, lambda found: _value(old, found))


def _value(old: Store, found: bytes) -> bytes:
    value = old.values.get(found)
    if value is None:
        raise StoreDamaged("a value is missing")
    return value


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
