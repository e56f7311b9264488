"""All rows in memory: found by name or by number, their values decoded when asked for, and let go of in time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import UNSET

from pipeline.query.query import Query, Table
from pipeline.query.readers import Readers
from pipeline.query.row import (
    ABSENT,
    INPUT,
    ITEM,
    KIN,
    MISSING,
    NAMES,
    Items,
    Name,
    Row,
    Taken,
    Trace,
    identity,
    item_identity,
    outline_of,
)
from pipeline.query.store import Store
from pipeline.query.values import StoreDamaged

# Bytes of encoded values, for which as many decoded ones may stay in memory: where all has to be made, which takes most
# of the memory that a process has, and where most is there and what is looked at is looked at again.
FIRST, LATER = 2_250_000, 12_000_000

Find = Callable[[str], Query[Any, Any] | None]


class Cycle(Exception):
    """A query that needs its own value."""


class Rows:
    """The rows that somebody asked for. `touched` are the numbers of rows and items that may give something else in
    this round than before it; None: any."""

    def __init__(self, store: Store, find: Find, inputs: Mapping[str, Taken], room: int) -> None:
        self._store = store
        self._room = room
        self._find = lru_cache(maxsize=None)(find)
        self.by_name: dict[Name, Row] = {}
        self._by_id: dict[bytes, Row] = {}
        self._valued: deque[tuple[Row, int]] = deque()  # rows whose value is in memory, and what it weighs
        self._unput: dict[bytes, bytes] = {}  # encoded values that are not in the store yet, by digest
        self._weight = 0  # of both, encoded
        self._decoded = 0  # bytes of tables that were decoded and may still be in memory
        self.inputs = inputs
        self.touched: set[bytes] | None = None
        self.doubted: set[bytes] = set()  # rows that were in doubt at some time of this round
        self.moved: dict[bytes, bytes] = {}  # items that came out different, and what they give now
        self.met: list[bytes] = []  # what moved, and whose readers were not doubted yet
        self.unsaved: dict[bytes, Row] = {}
        self.tables: set[bytes] = set()
        self.readers = Readers(store)
        self._items_of_kin: dict[tuple[bytes, bool], dict[bytes, tuple[Row, str]]] = {}

    def begin(self, inputs: Mapping[str, Taken]) -> None:
        """Starts a round, in which nothing is known to have changed."""
        self.inputs, self.touched, self.doubted = inputs, set(), set()
        self.moved, self.met, self._items_of_kin = {}, [], {}

    # ---- finding

    def named(self, name: Name, query: Query[Any, Any] | None = None) -> Row:
        """A row by its name: in memory, from the store, or empty."""
        row = self.by_name.get(name)
        if row is not None:
            return row
        id_ = identity(name)
        if name[0] == INPUT:
            return self._new(name, id_, None)
        known = self._find(name[0])
        if query is not None and known is not query:
            raise TypeError(f"{name[0]} is none of the queries that are found by name: a later round would not see it")
        row = self._new(name, id_, known)
        record = None if self._store.empty else self._store.record(id_)
        if record is not None and record.name == name:
            self._fill(row, record.trace)
        return row

    def numbered(self, id_: bytes) -> Row | None:
        """A row by its number, None where nobody knows it, or it is an item, or of a query that is no more so."""
        row = self._by_id.get(id_)
        if row is not None:
            return row
        record = self._store.record(id_)
        query = self._find(record.name[0]) if record is not None and identity(record.name) == id_ else None
        if record is None or query is None or query.arity != len(record.name) - 1:
            return None
        row = self._new(record.name, id_, query)
        self._fill(row, record.trace)
        return row

    def _new(self, name: Name, id_: bytes, query: Query[Any, Any] | None) -> Row:
        row = self.by_name[name] = self._by_id[id_] = Row(name, id_, query)
        if name[0] == INPUT:
            row.digest, row.fresh = self.digest_of_input(name[1]), True
        return row

    def digest_of_input(self, label: str) -> bytes:
        """The digest of an input in this round."""
        taken = self.inputs.get(label)
        return MISSING if taken is None else taken.digest

    def _fill(self, row: Row, trace: Trace) -> None:
        row.trace, row.digest, row.height = trace, trace.digest, trace.height
        row.fresh = self.touched is not None and row.id not in self.touched

    def item(self, id_: bytes, *, once: bool = True) -> tuple[Row, str] | None:
        """The table of an item by the item's number, and its name. Also for items that the table had `once`, unless all
        that changed is known."""
        once = once or self.touched is None
        kin = id_[:KIN]
        if (kin, once) not in self._items_of_kin:
            found: dict[bytes, tuple[Row, str]] = {}
            for table in filter(None, map(self.numbered, [table for table in self.tables if table[:KIN] == kin])):
                for trace in (table.trace, *(self.older(table) if once else ())):
                    for item in (NAMES, ABSENT, *self._names_of(trace)):
                        found[item_identity(table.id, item)] = table, item
            self._items_of_kin[kin, once] = found
        return self._items_of_kin[kin, once].get(id_)

    def _names_of(self, trace: Trace | None) -> list[str]:
        """The names of the items that a trace gave."""
        found = None if trace is None else self.items_of(trace)
        return [] if found is None else found.names()

    def name_of(self, id_: bytes) -> Name | None:
        """What a number stands for."""
        row, found = self.numbered(id_), None
        if row is None:
            found = self.item(id_)
        return (ITEM, *found[0].name, found[1]) if found is not None else None if row is None else row.name

    def older(self, row: Row) -> list[Trace]:
        """What a row came to before, the latest first."""
        if row.older is None:
            row.older = self._store.older(row.id)
        return row.older

    def move(self, table: bytes, found: Mapping[bytes, bytes]) -> None:
        """Notes that a table and some items came out different, and what these give now."""
        self.moved.update(found)
        if self.touched is not None:
            self.touched.update((table, *found))
            self.met += (table, *found)

    def present(self) -> Iterable[Row]:
        """The rows in memory."""
        return self._by_id.values()

    def known(self, id_: bytes, before: bytes) -> bytes:
        """What a row or an item gives in this round, as far as that is known; else what it gave before."""
        row = self._by_id.get(id_)
        return row.digest if row is not None and row.fresh else self.moved.get(id_, before)

    def doubt(self, id_: bytes) -> bool:
        """Notes that a row may give something else; False where that was known."""
        assert self.touched is not None
        row = self._by_id.get(id_)
        if id_ in self.doubted and (row is None or not row.fresh):
            return False
        self.touched.add(id_)
        self.doubted.add(id_)
        if row is not None:
            row.fresh = False
        return True

    def holds(self, id_: bytes) -> bool:
        """Whether a row is known to hold."""
        return (row := self._by_id.get(id_)) is not None and row.fresh

    def was_dropped(self, id_: bytes) -> bool:
        """Whether the store has a row of this number, of a query that is no more."""
        record = self._store.record(id_)
        return record is not None and identity(record.name) == id_

    # ---- values

    def value(self, row: Row, again: Callable[[Row], Any]) -> Any:
        """A row's value, decoded; made again by `again` where it is not kept."""
        if row.name[0] == INPUT:
            taken = self.inputs.get(row.name[1])
            return None if taken is None else taken.read()
        query = row.query
        assert query is not None and row.trace is not None
        if not query.keep:
            return again(row)
        raw = row.trace.value or self.load(row.trace.digest)
        if isinstance(query, Table):
            decode = query.item_decoder.decode
            value = {name: decode(item.value) for name, item in self.items(row).all()}
        else:
            value = query.decoder.decode(raw)
        self.hold(row, value, len(raw))
        return value

    def items(self, table: Row) -> Items:
        """A table's items."""
        if table.items is None:
            assert table.trace is not None
            table.items = self.items_of(table.trace)
            if table.items is None:
                raise StoreDamaged("a table is none")
        return table.items

    def items_of(self, trace: Trace) -> Items | None:
        """The items as a trace has them, None where it is from before the query was a table."""
        raw = trace.value or self._unput.get(trace.digest) or self._store.values.get(trace.digest)
        outline = None if raw is None else outline_of(raw)
        self.note_decoded(len(raw or b""))
        return None if outline is None else Items(outline, self.load)

    def load(self, found: bytes) -> bytes:
        """The encoded value with a digest."""
        raw = self._unput.get(found) or self._store.values.get(found)
        if raw is None:
            raise StoreDamaged("a value is missing")
        self.note_decoded(len(raw))
        return raw

    def note_decoded(self, size: int) -> None:
        """Notes that so many bytes of tables were decoded; lets go of all of them where these are many."""
        self._decoded += size
        if self._decoded > self._room:
            self._decoded = 0
            for table in filter(None, map(self._by_id.get, self.tables)):
                table.items = None

    def hold(self, row: Row, value: Any, size: int) -> None:
        """Lets a value stay in memory, and makes room when there are many."""
        if self._weight + size > self._room:
            self.flush()
        row.value = value
        self._valued.append((row, size))
        self._weight += size

    def put(self, found: bytes, raw: bytes) -> None:
        """Takes the encoded value with a digest, to be stored."""
        self._unput[found] = raw
        self._weight += len(raw)

    def put_items(self, found: bytes, raw: bytes) -> None:
        """Takes a part of a table, which is decoded already."""
        self.put(found, raw)
        self.note_decoded(len(raw))

    def flush(self) -> None:
        """Moves values to the store, for a later commit to keep, and lets go of those that nobody asks for."""
        self.put_values()
        for _ in range(len(self._valued) - 1):  # the last one is about to be read
            if self._weight <= self._room // 2:
                break
            row, size = self._valued.popleft()
            if row.used:
                row.used = False
                self._valued.append((row, size))
            else:
                row.value = UNSET
                self._weight -= size

    def put_values(self) -> None:
        """Puts values into the store."""
        self._store.add_values(self._unput)
        self._weight -= sum(map(len, self._unput.values()))
        self._unput = {}
