"""All rows in memory: found by name or by number, their values decoded when asked for, and let go of in time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from pipeline.query.query import Query, Table
from pipeline.query.row import (
    INPUT,
    ITEM,
    MISSING,
    NAMES,
    Item,
    Name,
    Row,
    Taken,
    Trace,
    encode,
    identity,
    sealed,
    unpacked,
    unsealed,
)
from pipeline.query.store import Store

ROOM = 2_000_000  # bytes of encoded values, for which as many decoded ones may stay in memory
LIGHT = 512  # bytes of a value that is no burden

Find = Callable[[str], Query[Any, Any] | None]

_items_decoder = msgspec.msgpack.Decoder(dict[str, Item])
_names_decoder = msgspec.msgpack.Decoder(list[str])


class Cycle(Exception):
    """A query that needs its own value."""


class Damaged(Exception):
    """The store contradicts itself: nothing in it is taken on trust any more."""


class Rows:
    """The rows that somebody asked for. `touched` are those whose value may have changed in this round; None: any."""

    def __init__(self, store: Store, find: Find, inputs: Mapping[str, Taken], room: int = ROOM) -> None:
        self._store = store
        self._room = room
        self.find = lru_cache(maxsize=None)(find)
        self.by_name: dict[Name, Row] = {}
        self._by_number: dict[int, Row] = {}
        self._valued: list[Row] = []  # rows whose value is in memory
        self._unput: list[Row] = []  # of these, what may not be in the store yet
        self._weight = 0  # of these values, encoded
        self.inputs = inputs
        self.touched: set[int] | None = None
        self.moved: list[int] = []  # tables and items that came out different
        self.unsaved: dict[int, Row] = {}
        self.readers: dict[int, list[int]] = {}  # to be added to those in the store
        self.tables: set[int] = set()
        self._items: dict[int, Name] | None = None

    # ---- finding

    def named(self, name: Name, query: Query[Any, Any] | None = None) -> Row:
        """A row by its name: in memory, from the store, or empty."""
        row = self.by_name.get(name)
        if row is not None:
            return row
        if name[0] == ITEM:
            return self._new(name, identity(name), None)
        id_ = identity(name)
        row = self._new(name, id_, query or self._query(name))
        record = None if self._store.empty else self._store.record(id_)
        if record is not None and record.name == name:
            self._fill(row, record.trace)
        elif name[0] == INPUT:
            self._fill(row, Trace(MISSING, b"", (), 0))
            self.unsaved[id_] = row
        return row

    def _new(self, name: Name, id_: int, query: Query[Any, Any] | None) -> Row:
        row = self.by_name[name] = self._by_number[id_] = Row(name, id_, query)
        return row

    def numbered(self, id_: int) -> Row | None:
        """A row by its number, None where nobody knows it, or it is of a query that is no more."""
        row = self._by_number.get(id_)
        if row is not None:
            return row
        record = self._store.record(id_)
        if record is None or identity(record.name) != id_:
            name = self._all_items().get(id_)
            return None if name is None else self.named(name)
        query = self._query(record.name)
        if query is None and record.name[0] != INPUT:
            return None
        row = self._new(record.name, id_, query)
        self._fill(row, record.trace)
        return row

    def _all_items(self) -> dict[int, Name]:
        """The items of all tables by number: they have no record of their own."""
        if self._items is None:
            self._items = {}
            for id_ in self.tables:
                table = self.numbered(id_)
                for trace in (table.trace, *self.older(table)) if table is not None else ():
                    names = ((ITEM, *table.name, item) for item in self.items_of(trace)) if trace and table else ()
                    self._items.update((identity(name), name) for name in names)
        return self._items

    def older(self, row: Row) -> list[Trace]:
        """What a row came to before, the latest first."""
        if row.older is None:
            row.older = self._store.older(row.id)
        return row.older

    def in_memory(self, name: Name) -> Row | None:
        """A row by its name, if somebody asked for it already."""
        return self.by_name.get(name)

    def move(self, id_: int) -> None:
        """Notes that a table or an item came out different: its readers are to be doubted."""
        if self.touched is not None:
            self.touched.add(id_)
            self.moved.append(id_)

    def holds(self, id_: int) -> bool:
        """Whether a row is known to hold."""
        row = self._by_number.get(id_)
        return row is not None and row.fresh

    def doubted(self) -> list[int]:
        """The rows that nobody looked at since they were doubted. Of items, their table knows."""
        assert self.touched is not None
        found = (self._by_number.get(id_) for id_ in self.touched)
        return [row.id for row in found if row is not None and not row.fresh and row.name[0] != ITEM]

    def was_dropped(self, id_: int) -> bool:
        """Whether the store has a row of this number, of a query that is no more."""
        record = self._store.record(id_)
        return record is not None and identity(record.name) == id_

    def present(self) -> Iterable[Row]:
        """The rows in memory."""
        return self._by_number.values()

    def table_of(self, item: Row) -> Row:
        """The table that an item is in."""
        return self.named(item.name[1:-1])

    def _query(self, name: Name) -> Query[Any, Any] | None:
        return None if name[0] in (INPUT, ITEM) else self.find(name[0])

    def _fill(self, row: Row, trace: Trace) -> None:
        row.trace = trace
        row.digest = trace.digest
        row.height = trace.height
        row.raw = trace.value or None
        if row.name[0] == INPUT:
            row.digest, row.fresh = self.digest_of(row.name[1]), True
        else:
            row.fresh = self.touched is not None and row.id not in self.touched

    def digest_of(self, label: str) -> bytes:
        """The digest of an input."""
        taken = self.inputs.get(label)
        return MISSING if taken is None else taken.digest

    # ---- values

    def value(self, row: Row, again: Callable[[Row], Any]) -> Any:
        """A row's value, decoded; made again by `again` where it is not kept or was lost."""
        if row.value is UNSET:
            value = row.value = self._decoded(row, again)
            self.weigh(row, LIGHT)
            return value
        return row.value

    def _decoded(self, row: Row, again: Callable[[Row], Any]) -> Any:
        if row.name[0] == INPUT:
            taken = self.inputs.get(row.name[1])
            return None if taken is None else taken.read()
        if row.digest == MISSING:
            return None
        if isinstance(row.query, Table):
            return {item: self.value(self.item(row, item), again) for item in self.items(row) if item != NAMES}
        raw = row.raw or self.kept(row)
        if row.name[0] != ITEM:
            assert row.query is not None
            self._weight += len(raw or b"")
            return again(row) if raw is None else row.query.decoder.decode(raw)
        table = self.table_of(row)
        if raw is None:
            again(table)
            raw = row.raw or self.kept(row)
        assert isinstance(table.query, Table) and raw is not None
        return (_names_decoder if row.name[-1] == NAMES else table.query.item_decoder).decode(raw)

    def kept(self, row: Row) -> bytes | None:
        """The encoded value that the store has."""
        if row.name[0] == ITEM:
            return self._store.value(self.items(self.table_of(row))[row.name[-1]])
        return None if row.trace is None else self._store.value(row.trace)

    def item(self, table: Row, item: str) -> Row:
        """An item of a table that holds."""
        row = self.named((ITEM, *table.name, item))
        if not row.fresh:
            found = self.items(table).get(item)
            row.digest, row.fresh, row.height = MISSING if found is None else found.digest, True, table.height
        return row

    def items(self, table: Row) -> dict[str, Item]:
        """A table's items."""
        if table.items is None:
            data = None if table.trace is None else unsealed(self._store.object(table.trace.at))
            if data is None and self.touched is not None and table.trace is not None:
                raise Damaged
            table.items = {} if data is None else _items_decoder.decode(data)
        return table.items

    def items_of(self, trace: Trace) -> dict[str, Item]:
        """The items as a trace has them, as far as that is still known."""
        data = unsealed(self._store.object(trace.at))
        return {} if data is None else _items_decoder.decode(data)

    def is_there(self, row: Row, trace: Trace) -> bool:
        """Whether the value that a trace gave is still there, where it cannot be made again apart: that of a table."""
        return not isinstance(row.query, Table) or unsealed(self._store.object(trace.at)) is not None

    def weigh(self, row: Row, size: int) -> None:
        """Notes that a value is in memory, and makes room when there are many."""
        if self._weight + size > self._room:
            self._valued = [other for other in self._valued if other is not row]  # it is about to be read
            self.flush()
        self._valued.append(row)
        if row.raw is not None:
            self._unput.append(row)
        self._weight += size

    def flush(self) -> None:
        """Moves values from memory to the store, to have room; a later commit keeps them."""
        self._weight = 0
        try:
            self.put_values()
        except sqlite3.Error:
            return  # another process wrote first: all stays in memory, and this round is not kept
        for row in self._valued:
            row.value = UNSET
            if row.raw is not None and len(row.raw) > LIGHT:
                row.raw = None
        self._valued = []

    def put_values(self) -> None:
        """Puts the values of rows into the store, those of items first: their table says where they are."""
        wanted: list[tuple[Trace | Item, bytes]] = []
        for row in self._unput:
            kept = self._keeper(row)
            if row.raw is not None and kept is not None and not kept.value and not kept.at:
                wanted.append((kept, row.raw))
        self._put(wanted)
        self._unput = []
        tables = (row for row in self.unsaved.values() if row.items is not None)
        traces = ((row.trace, row.items) for row in tables if row.trace is not None and not row.trace.at)
        self._put([(trace, sealed(encode(items))) for trace, items in traces])

    def _keeper(self, row: Row) -> Trace | Item | None:
        """What says where a row's value is."""
        if row.name[0] == ITEM:
            return self.items(self.table_of(row)).get(row.name[-1])
        return None if isinstance(row.query, Table) else row.trace

    def _put(self, wanted: list[tuple[Trace | Item, bytes]]) -> None:
        at = self._store.put([raw for _, raw in wanted])
        for i, (kept, _) in enumerate(wanted):
            kept.at = at + i

    # ---- what is to be kept

    def note_readers(self, row: Row, trace: Trace, before: Trace | None) -> None:
        """Notes who reads what: what the trace before did not read."""
        known = {id_ for id_, _ in unpacked(before.reads)} if before is not None else ()
        readers, reader = self.readers, row.id
        for id_, _ in unpacked(trace.reads):
            if id_ not in known:
                readers.setdefault(id_, []).append(reader)

    def readers_of(self, id_: int) -> set[int]:
        """The rows that read one, now or once."""
        return self._store.readers(id_).union(self.readers.get(id_, ()))
