"""All rows in memory: found by name or by number, their values decoded when asked for, and let go of in time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from pipeline.query.digest import MISSING, identity
from pipeline.query.query import Query, Table
from pipeline.query.row import INPUT, ITEM, NAMES, Name, Row, Taken, Trace, unpacked
from pipeline.query.store import Store

ROOM = 3_000_000  # bytes of encoded values, for which as many decoded ones may stay in memory
LIGHT = 512  # bytes of a value that is no burden

Find = Callable[[str], Query[Any, Any] | None]

_items_decoder = msgspec.msgpack.Decoder(dict[str, bytes])
_names_decoder = msgspec.msgpack.Decoder(list[str])


class Damaged(Exception):
    """The store contradicts itself: nothing in it is taken on trust any more."""


class Rows:
    """The rows that somebody asked for. `touched` are those whose value may have changed in this round; None: any."""

    def __init__(self, store: Store, find: Find, inputs: Mapping[str, Taken]) -> None:
        self._store = store
        self.find = lru_cache(maxsize=None)(find)
        self._by_name: dict[Name, Row] = {}
        self._by_number: dict[int, Row] = {}
        self._valued: list[Row] = []  # rows whose value is in memory
        self._weight = 0  # of these values, encoded
        self.inputs = inputs
        self.touched: set[int] | None = None
        self.moved: list[int] = []  # tables and items that came out different
        self.unsaved: dict[int, Row] = {}
        self.readers: dict[int, list[int]] = {}  # to be added to those in the store

    # ---- finding

    def named(self, name: Name, query: Query[Any, Any] | None = None) -> Row:
        """A row by its name: in memory, from the store, or empty."""
        row = self._by_name.get(name)
        if row is not None:
            return row
        id_ = identity(name)
        row = Row(name, id_, query or self._query(name))
        record = None if self._store.empty else self._store.record(id_)
        if record is not None and record.name == name:
            self._fill(row, record.trace)
        elif name[0] == INPUT:
            self._fill(row, Trace(MISSING, b"", (), 0))
            self.unsaved[id_] = row
        self._by_name[name] = self._by_number[id_] = row
        return row

    def numbered(self, id_: int) -> Row | None:
        """A row by its number, None where the store has none, or it is of a query that is no more."""
        row = self._by_number.get(id_)
        if row is not None:
            return row
        record = self._store.record(id_)
        if record is None or identity(record.name) != id_:
            return None
        query = self._query(record.name)
        if query is None and record.name[0] not in (INPUT, ITEM):
            return None
        row = Row(record.name, id_, query)
        self._fill(row, record.trace)
        self._by_name[row.name] = self._by_number[id_] = row
        return row

    def in_memory(self, name: Name) -> Row | None:
        """A row by its name, if somebody asked for it already."""
        return self._by_name.get(name)

    def holds(self, id_: int) -> bool:
        """Whether a row is known to hold."""
        row = self._by_number.get(id_)
        return row is not None and row.fresh

    def was_dropped(self, id_: int) -> bool:
        """Whether the store has a row of this number, of a query that is no more."""
        record = self._store.record(id_)
        return record is not None and identity(record.name) == id_

    def present(self) -> Iterable[Row]:
        """The rows in memory."""
        return self._by_number.values()

    def item(self, table: Row, item: str) -> Row:
        """One item of a table."""
        return self.named((ITEM, *table.name, item))

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
            row.value = self._decoded(row, again)
            self.weigh(row)
            return row.value if row.value is not UNSET else self._decoded(row, again)
        return row.value

    def _decoded(self, row: Row, again: Callable[[Row], Any]) -> Any:
        if row.name[0] == INPUT:
            taken = self.inputs.get(row.name[1])
            return None if taken is None else taken.read()
        if row.digest == MISSING:
            return None
        if isinstance(row.query, Table):
            return {item: self._item_value(row, item, again) for item in self.items(row) if item != NAMES}
        raw = row.raw or self.kept(row)
        if row.name[0] != ITEM:
            assert row.query is not None
            return again(row) if raw is None else row.query.decoder.decode(raw)
        table = self.table_of(row)
        if raw is None:
            again(table)
            raw = row.raw or self.kept(row)
        assert isinstance(table.query, Table) and raw is not None
        return (_names_decoder if row.name[-1] == NAMES else table.query.item_decoder).decode(raw)

    def _item_value(self, table: Row, item: str, again: Callable[[Row], Any]) -> Any:
        row = self.item(table, item)
        if not row.fresh:
            row.digest, row.fresh = self.items(table)[item], True
        return self.value(row, again)

    def kept(self, row: Row) -> bytes | None:
        """The encoded value that the store has."""
        return None if row.trace is None else self._store.value(row.trace)

    def items(self, table: Row) -> dict[str, bytes]:
        """The digests of a table's items."""
        if table.digest == MISSING:
            return {}
        table.raw = table.raw or self.kept(table)
        if table.raw is None and self.touched is not None:
            raise Damaged
        return {} if table.raw is None else _items_decoder.decode(table.raw)

    def items_before(self, table: Row) -> dict[str, bytes]:
        """The digests of a table's items before it is replaced."""
        return {} if table.trace is None else self.items(table)

    def items_of(self, trace: Trace) -> dict[str, bytes]:
        """The same as a trace had them, as far as that is still known."""
        raw = self._store.value(trace)
        return {} if raw is None else _items_decoder.decode(raw)

    def weigh(self, row: Row) -> None:
        """Notes that a value is in memory, and makes room when there are many."""
        self._valued.append(row)
        self._weight += LIGHT if row.raw is None else len(row.raw)
        if self._weight > ROOM:
            self.flush()

    def flush(self) -> None:
        """Moves values from memory to the store, to have room; a later commit keeps them."""
        self._weight = 0
        try:
            self._store.add_values(self._valued)
        except sqlite3.Error:
            return  # another process wrote first: all stays in memory, and this round is not kept
        valued, self._valued = self._valued, []
        for row in valued:
            row.value = UNSET
            if row.raw is not None and len(row.raw) > LIGHT:
                row.raw = None

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
