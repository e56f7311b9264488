"""The database: calls queries, remembers what they read and gave, and decides what still holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw

from pipeline.query.digest import MISSING, digest, encode, identity
from pipeline.query.query import Query, Table
from pipeline.query.row import Name, Row, Trace, packed, packed_ids, unpacked, unpacked_ids
from pipeline.query.store import SMALL, Store

OLDER = 7  # traces that a row keeps beside its latest
ROOM = 3_000_000  # bytes of encoded values, for which as many decoded ones may stay in memory
LIGHT = 512  # bytes of a value that is no burden

INPUT, ITEM = "input", "item"  # the first words of the names of rows that are no calls
ENGINE = "engine"  # the input that stands for this package and the libraries that output depends on
NAMES = "\0"  # the item of a table that has the names of all its items


class Taken(Protocol):
    """An input as a round takes it: its digest, and its bytes."""

    digest: bytes

    def read(self) -> bytes | None: ...


Find = Callable[[str], Query[Any, Any] | None]


class Cycle(Exception):
    """A query that needs its own value."""


class Damaged(Exception):
    """The store contradicts itself: nothing in it is taken on trust any more."""


class _Frame:
    """What a query that is running has read and reported so far."""

    __slots__ = ("height", "problems", "reads")

    def __init__(self) -> None:
        self.reads: dict[int, bytes] = {}
        self.problems: list[Raw] = []
        self.height = 0


class Database:
    """Rows of all queries.

    `find` gives a query by its name, None for one that is no more. `code` is a query that gives the digest of the code
    that a module reaches: the first thing that every row reads, but for those of `code`'s own module.
    """

    def __init__(self, store: Store, find: Find, code: Query[[str], bytes]) -> None:
        self._store = store
        self._find = lru_cache(maxsize=None)(find)
        self._code = code
        self._rows: dict[Name, Row] = {}
        self._by_id: dict[int, Row] = {}
        self._inputs: Mapping[str, Taken] = {}
        self._frame: _Frame | None = None
        self._reset()

    def _reset(self) -> None:
        """Forgets all that is in memory."""
        self._rows.clear()
        self._by_id.clear()
        self._touched: set[int] | None = None  # rows whose value may have changed in this round; None: any
        self._unsaved: dict[int, Row] = {}
        self._valued: list[Row] = []  # rows whose value is in memory
        self._weight = 0  # of these values, encoded
        self._readers: dict[int, list[int]] = {}  # to be added to those in the store
        self._noisy: set[int] = set()  # rows with problems
        self._moved: list[int] = []  # tables and items that came out different, whose readers are still to be doubted
        self._carried: set[int] = set()  # rows that were in doubt before this round
        self._settled = False
        self.ran: set[Name] = set()

    # ---- rounds

    def begin(self, inputs: Mapping[str, Taken]) -> None:
        """Starts a round, in which `inputs` stay what they are."""
        if not self._store.begin():
            self._reset()
        self._inputs = inputs
        self.ran = set()
        self._settled = False
        try:
            self._settle()
        except Damaged:
            self._distrust()
        self._settled = True

    def _settle(self) -> None:
        """Finds out which rows may be stale."""
        store = self._store
        self._noisy = unpacked_ids(store.note("noisy") or b"")
        known = _digests(store.note("inputs"))
        changed = [label for label in {**known, **self._inputs} if known.get(label, MISSING) != self._digest(label)]
        if not (store.sound or store.empty):
            raise Damaged
        self._touched, self._moved = set(), []
        self._carried = unpacked_ids(store.note("pending") or b"")
        waiting: list[tuple[int, int]] = []
        for id_ in self._carried:
            self._doubt(id_, waiting)
        for label in changed:
            row = self._rows.get((INPUT, label)) or self._row((INPUT, label), None)
            row.digest, row.value = self._digest(label), UNSET
            self._touched.add(row.id)
            self._doubt_readers(row.id, waiting)
        while waiting:
            row = self._by_id[heappop(waiting)[1]]
            if not isinstance(row.query, Table):
                self._doubt_readers(row.id, waiting)
                continue
            if not row.fresh:
                self._bring(row)
            while self._moved:
                self._doubt_readers(self._moved.pop(), waiting)
        if not store.sound and not store.empty:
            raise Damaged

    def _digest(self, label: str) -> bytes:
        taken = self._inputs.get(label)
        return MISSING if taken is None else taken.digest

    def _doubt_readers(self, id_: int, waiting: list[tuple[int, int]]) -> None:
        for reader in self._all_readers(id_):
            self._doubt(reader, waiting)

    def _doubt(self, id_: int, waiting: list[tuple[int, int]]) -> None:
        """Marks a row that read something that changed; it is looked at after all rows below it."""
        row = self._by_id.get(id_) or self._loaded(id_)
        assert self._touched is not None
        if row is None:
            if not self._store.was_removed(id_):
                raise Damaged
        elif row.name[0] != INPUT and (row.fresh or id_ not in self._touched):
            self._touched.add(id_)
            row.fresh = False
            heappush(waiting, (row.height, id_))

    def _distrust(self) -> None:
        """From here on every row is checked by its own reads, whatever the store says of who reads whom."""
        self._reset()
        self._settled = True

    def _top(self, work: Callable[[], Any]) -> Any:
        """Does what somebody outside of all queries asks for; once more where the store turns out to be damaged."""
        try:
            return work()
        except Damaged:
            self._distrust()
            return work()

    def _all_readers(self, id_: int) -> set[int]:
        return self._store.readers(id_).union(self._readers.get(id_, ()))

    # ---- reading

    def get(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Any:
        """The value of a query, as it is in this round."""
        name = (query.name, *args)
        if self._frame is None:
            return self._top(lambda: self._read(self._called(query, args)))
        return self._read(self._rows.get(name) or self._row(name, query))

    def item(self, table: Table[Any, Any], args: tuple[Any, ...], item: str) -> Any:
        """One item of a table, None when there is none."""
        name = (ITEM, table.name, *args, item)
        if self._frame is None:
            return self._top(lambda: self._read(self._rows.get(name) or self._row(name, None)))
        return self._read(self._rows.get(name) or self._row(name, None))

    def _called(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Row:
        name = (query.name, *args)
        return self._rows.get(name) or self._row(name, query)

    def digest(self, query: Query[Any, Any], *args: Any) -> bytes:
        """The digest of a query's value: a read like others, without a look at the value."""
        row = self._called(query, args)
        if not row.fresh:
            self._top(lambda: self._bring(self._called(query, args))) if self._frame is None else self._bring(row)
            row = self._called(query, args)
        self._note_read(row)
        return row.digest

    def names(self, table: Table[Any, Any], *args: Any) -> list[str]:
        """The names of a table's items, in order: a read of its own, whatever the items say."""
        return self.item(table, args, NAMES) or []

    def input(self, label: str) -> bytes | None:
        """An input's bytes, None where there is no such input."""
        name = (INPUT, label)
        row = self._rows.get(name) or self._row(name, None)
        value: bytes | None = self._read(row)
        return value

    def report(self, problem: object) -> None:
        """Adds a problem to the row of the query that is running."""
        assert self._frame is not None
        self._frame.problems.append(Raw(encode(problem)))

    def _read(self, row: Row) -> Any:
        if not row.fresh:
            self._bring(row)
        self._note_read(row)
        value = row.value
        if value is UNSET:
            value = row.value = self._value(row)
            self._weigh(row)
        return value

    def _weigh(self, row: Row) -> None:
        """Notes that a value is in memory, and makes room when there are many."""
        self._valued.append(row)
        self._weight += LIGHT if row.raw is None else len(row.raw)
        if self._weight > ROOM:
            self.flush()

    def _note_read(self, row: Row) -> None:
        frame = self._frame
        if frame is not None:
            frame.reads[row.id] = row.digest
            if row.height >= frame.height:
                frame.height = row.height + 1

    def _row(self, name: Name, query: Query[Any, Any] | None) -> Row:
        """A row by its name: from the store, or empty."""
        id_ = identity(name)
        row = Row(name, id_, query)
        record = None if self._store.empty else self._store.record(id_)
        if record is not None and record.name == name:
            self._fill(row, record.trace)
        elif name[0] == INPUT:
            self._fill(row, Trace(MISSING, b"", (), 0))
            self._unsaved[id_] = row
        self._rows[name] = self._by_id[id_] = row
        return row

    def _loaded(self, id_: int) -> Row | None:
        """A row of the store by its number, None where there is none."""
        record = self._store.record(id_)
        if record is None:
            return None
        name = record.name
        known = self._rows.get(name)
        if known is not None or identity(name) != id_:
            return known
        query = None if name[0] in (INPUT, ITEM) else self._find(name[0])
        if query is None and name[0] not in (INPUT, ITEM):
            return None  # of code that is no more
        row = Row(name, id_, query)
        self._fill(row, record.trace)
        self._rows[name] = self._by_id[id_] = row
        return row

    def _fill(self, row: Row, trace: Trace) -> None:
        row.trace = trace
        row.digest = trace.digest
        row.height = trace.height
        row.raw = trace.value or None
        if row.name[0] == INPUT:
            row.digest, row.fresh = self._digest(row.name[1]), True
        else:
            row.fresh = self._touched is not None and row.id not in self._touched

    def _value(self, row: Row) -> Any:
        """A row's value, decoded; made again where it is not kept or was lost."""
        if row.name[0] == INPUT:
            taken = self._inputs.get(row.name[1])
            return None if taken is None else taken.read()
        if row.digest == MISSING:
            return None
        if isinstance(row.query, Table):
            return self._whole(row, row.query)
        raw = row.raw or self._kept(row)
        if row.name[0] == ITEM:
            table = self._find(row.name[1])
            assert isinstance(table, Table)
            if raw is None:
                self._again(self._rows.get(row.name[1:-1]) or self._row(row.name[1:-1], table))
                raw = row.raw or self._kept(row)
                assert raw is not None
            decoder = _names_decoder if row.name[-1] == NAMES else table.item_decoder
            return decoder.decode(raw)
        assert row.query is not None
        if raw is None:
            return self._again(row)
        return row.query.decoder.decode(raw)

    def _whole(self, row: Row, table: Table[Any, Any]) -> dict[str, Any]:
        """All items of a table: for its reader one read."""
        frame, self._frame = self._frame, _Frame()
        try:
            return {item: self.item(table, row.name[1:], item) for item in self._items(row) if item != NAMES}
        finally:
            self._frame = frame

    def _again(self, row: Row) -> Any:
        """Runs a query whose row holds, to see its value."""
        wanted = row.digest
        ran = set(self.ran)
        value = self._run(row)
        self.ran = ran
        if row.digest != wanted:
            raise Damaged
        return value

    def _kept(self, row: Row) -> bytes | None:
        return None if row.trace is None else self._store.value(row.trace)

    def _items(self, row: Row) -> dict[str, bytes]:
        """The digests of a table's items."""
        if row.digest == MISSING:
            return {}
        raw = row.raw or self._kept(row)
        if raw is None:
            if self._touched is not None:
                raise Damaged
            return {}
        row.raw = raw
        return _items_decoder.decode(raw)

    # ---- deciding

    def _bring(self, row: Row) -> None:
        """Makes a row hold: as it is, as it once was, or by running its query."""
        if row.query is None:
            self._bring_other(row)
        else:
            if row.running:
                raise Cycle(f"{row.query.name} needs its own value for {row.name[1:]}")
            row.running = True
            try:
                trace = self._matching(row)
                if trace is None:
                    self._run(row)
                elif trace is not row.trace:
                    self._adopt(row, trace)
                elif self._touched is None:
                    self._note_readers(row, trace, None)
            finally:
                row.running = False
        row.fresh = True

    def _bring_other(self, row: Row) -> None:
        """An item is what its table says."""
        name = row.name[1:-1]
        table = self._rows.get(name) or self._row(name, self._find(name[0]))
        if not table.fresh:
            self._bring(table)
        if not row.fresh:
            found = self._items(table).get(row.name[-1], MISSING)
            if row.trace is None or row.digest != found:
                row.height = table.height
                self._set_other(row, found, None)

    def _set_other(self, row: Row, found: bytes, raw: bytes | None) -> None:
        if self._touched is not None and row.trace is not None:
            self._touched.add(row.id)
            self._moved.append(row.id)
        row.digest, row.raw, row.value, row.fresh = found, raw, UNSET, True
        row.trace = Trace(found, b"", (), row.height, raw if raw is not None and len(raw) <= SMALL else b"")
        self._unsaved[row.id] = row
        if raw is not None:
            self._valued.append(row)

    def _matching(self, row: Row) -> Trace | None:
        """The trace that holds in this round, None where the query has to run."""
        if row.trace is None:
            return None
        known: dict[int, bytes] = {}
        touched = None if row.id in self._carried else self._touched
        if self._holds(row.trace, touched, known) and (touched is not None or self._can_adopt(row, row.trace)):
            return row.trace
        if row.older is None:
            row.older = self._store.older(row.id)
        untouched = self._touched
        if untouched is not None and row.id not in self._carried:
            known = {id_: found for id_, found in unpacked(row.trace.reads) if id_ not in untouched}
        for trace in row.older:
            if self._holds(trace, None, known) and self._can_adopt(row, trace):
                return trace
        return None

    def _holds(self, trace: Trace, touched: set[int] | None, known: Mapping[int, bytes]) -> bool:
        """Whether all that was read gives what it gave: the one walk that decides. In order, as a later read may
        depend on an earlier one."""
        for id_, found in unpacked(trace.reads):
            if touched is not None and id_ not in touched:
                continue
            now = known.get(id_)
            if now is None:
                row = self._by_id.get(id_) or self._loaded(id_)
                if row is None:
                    return False
                if not row.fresh:
                    self._bring(row)
                now = row.digest
            if now != found:
                return False
        return True

    def _can_adopt(self, row: Row, trace: Trace) -> bool:
        """Whether the value that a trace gave is still there."""
        if isinstance(row.query, Table):
            return self._store.value(trace) is not None
        return True

    def _adopt(self, row: Row, trace: Trace) -> None:
        """Takes an older trace for the latest."""
        assert row.older is not None and row.trace is not None
        row.older = [row.trace, *(other for other in row.older if other is not trace)]
        items = self._items(row) if isinstance(row.query, Table) and row.digest != trace.digest else None
        self._note_readers(row, trace, row.trace)
        changed = row.digest != trace.digest
        if changed and items is not None:
            self._moved.append(row.id)
        row.trace, row.digest, row.height = trace, trace.digest, trace.height
        if changed:
            row.raw, row.value = trace.value or None, UNSET
        if items is not None:
            self._set_items(row, items, self._items(row), {})
        self._save(row)

    def _run(self, row: Row) -> Any:
        """Runs a query, and makes a row of what it read and gave; gives the value."""
        query = row.query
        assert query is not None
        outer, frame = self._frame, _Frame()
        self._frame = frame
        try:
            if query.module != self._code.module:
                self._code(self, query.module)
            else:
                self.input(ENGINE)
            value = query.function(self, *row.name[1:])
        finally:
            self._frame = outer
        before = row.trace
        items: dict[str, bytes] = {}
        raws: dict[str, bytes] = {}
        if isinstance(query, Table):
            items = {} if before is None else self._items(row)
            raws = {NAMES: encode(list(value)), **{item: encode(found) for item, found in value.items()}}
            raw = encode({item: digest(found) for item, found in raws.items()})
        else:
            raw = encode(value)
        kept = raw if query.keep and len(raw) <= SMALL else b""
        trace = Trace(digest(raw), packed(frame.reads), tuple(frame.problems), frame.height, kept)
        if before is not None and (before.reads != trace.reads or before.digest != trace.digest):
            row.older = [before, *(row.older if row.older is not None else self._store.older(row.id))][:OLDER]
        self._note_readers(row, trace, before)
        if raws and before is not None and before.digest != trace.digest:
            self._moved.append(row.id)
        row.trace, row.digest, row.height = trace, trace.digest, frame.height
        row.raw = raw if query.keep else None
        row.value = UNSET if raws else value
        row.fresh = True
        self._weight += len(raw)
        if raws:
            self._set_items(row, items, self._items(row), raws)
        self.ran.add(row.name)
        self._save(row)
        self._weigh(row)
        return value

    def _set_items(
        self, table: Row, before: Mapping[str, bytes], after: Mapping[str, bytes], raws: Mapping[str, bytes]
    ) -> None:
        """Gives the items of a table that changed their new digests."""
        for item in {**before, **after}:
            name = (ITEM, *table.name, item)
            found = after.get(item, MISSING)
            row = self._rows.get(name)
            if before.get(item, MISSING) != found or (row is not None and row.digest != found):
                row = row or self._row(name, None)
                row.height = table.height
                self._set_other(row, found, raws.get(item))
            elif row is not None:
                row.raw, row.fresh = raws.get(item), True

    def _note_readers(self, row: Row, trace: Trace, before: Trace | None) -> None:
        """Notes who reads what: what the latest trace did not read."""
        known = {id_ for id_, _ in unpacked(before.reads)} if before is not None else ()
        for id_, _ in unpacked(trace.reads):
            if id_ not in known:
                self._readers.setdefault(id_, []).append(row.id)

    def _save(self, row: Row) -> None:
        self._unsaved[row.id] = row
        assert row.trace is not None
        if row.trace.problems:
            self._noisy.add(row.id)
        else:
            self._noisy.discard(row.id)

    # ---- what a round came to

    def current(self, query: Query[Any, Any], *args: Any) -> bool:
        """Whether a row is known to hold, before anything is looked at."""
        return self._called(query, args).fresh

    def holds(self, query: Query[Any, Any], *args: Any) -> bool:
        """Whether a row needs no run. What it reads is brought up to date, it itself is not."""
        row = self._called(query, args)
        return row.fresh or self._top(lambda: self._matching(self._called(query, args))) is not None

    def read_digest(self, query: Query[Any, Any], *args: Any) -> bytes:
        """The digest of all that a row that holds has read."""
        row = self._called(query, args)
        return digest(row.trace.reads) if row.trace is not None else MISSING

    def changes(self, query: Query[Any, Any], *args: Any) -> list[Name] | None:
        """What a row read that gives something else now: why it would run. None where it has never run."""
        row = self._called(query, args)
        if row.trace is None:
            return None
        found = []
        for id_, before in unpacked(row.trace.reads) if not row.fresh else ():
            read = self._by_id.get(id_) or self._loaded(id_)
            if read is None:
                continue
            if not read.fresh:
                self._bring(read)
            if read.digest != before:
                found.append(read.name)
                break  # what it would read after that, nobody knows
        return found

    def problems(self, roots: Iterable[tuple[Any, ...]], type_: Any) -> list[Any]:
        """The problems of all rows that `roots`, queries with their keys, are made from."""
        live = {identity((query.name, *args)): True for query, *args in roots}
        found = []
        for id_ in sorted(self._noisy):
            row = self._by_id.get(id_) or self._loaded(id_)
            if row is not None and row.trace is not None and self._live(row, live):
                found += [msgspec.msgpack.decode(problem, type=type_) for problem in row.trace.problems]
        return found

    def _live(self, row: Row, live: dict[int, bool]) -> bool:
        """Whether a root is made from a row: by way of the rows that read it."""
        known = live.get(row.id)
        if known is not None:
            return known
        live[row.id] = False
        if not row.fresh:
            return False
        readers = self._all_readers(row.id)
        if isinstance(row.query, Table):
            readers = readers | {identity((ITEM, *row.name, item)) for item in self._items(row)}
        for id_ in readers:
            reader = self._by_id.get(id_) or self._loaded(id_)
            if reader is None or reader.trace is None:
                continue
            reads = reader.name[0] == ITEM or any(read == row.id for read, _ in unpacked(reader.trace.reads))
            if reads and self._live(reader, live):
                live[row.id] = True
                return True
        return False

    # ---- keeping

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

    def commit(self) -> bool:
        """Ends a round: keeps what it found. False where that was not possible, as another process wrote first."""
        if not self._settled:
            return False
        doubted = self._store.ids() if self._touched is None else self._touched
        pending = {id_ for id_ in doubted if (row := self._by_id.get(id_)) is None or not row.fresh}
        notes = {
            "inputs": encode({label: taken.digest for label, taken in self._inputs.items()}),
            "pending": packed_ids(pending),
            "noisy": packed_ids(self._noisy),
        }
        try:
            self._store.add(self._unsaved.values())
            self._store.add_readers(self._readers)
            self._unsaved, self._readers = {}, {}
            kept = self._store.commit(notes)
        except sqlite3.Error as error:
            self._store.give_up(error)
            kept = False
        if not kept:
            self._reset()
        return kept

    def forget(self, wanted: Callable[[Name], bool]) -> None:
        """Drops rows by name, as if they had never been made."""
        rows = (self._by_id.get(id_) or self._loaded(id_) for id_ in self._store.ids())
        found = {row.id for row in rows if row is not None and wanted(row.name)}
        self._store.remove(found)
        self._touched = None
        for id_ in found:
            row = self._by_id.pop(id_)
            del self._rows[row.name]
        for row in self._by_id.values():
            row.fresh = row.name[0] == INPUT


_items_decoder = msgspec.msgpack.Decoder(dict[str, bytes])
_names_decoder = msgspec.msgpack.Decoder(list[str])


def _digests(data: bytes | None) -> dict[str, bytes]:
    return _items_decoder.decode(data) if data else {}
