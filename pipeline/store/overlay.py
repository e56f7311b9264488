"""Results in memory over a store on the disk, which is only read."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping

from pipeline.io.files import is_file
from pipeline.query.memo import Item, Memo, Row, StoreDamaged, decode, is_table
from pipeline.query.store import Changes, Snapshot
from pipeline.query.table import load_items
from pipeline.store.sqlite import SqliteStore, hash_of_item, memo_decoder

LIMIT = 16_000_000  # bytes of values in memory, at least, when those that no memo has are dropped


class Overlay:
    """A store whose commits stay in memory. It begins with the rows of the store at `path`, which are loaded once; the
    values of these are read when they are requested, without a transaction, which would keep a run from its seal."""

    problem = ""

    def __init__(self, path: str) -> None:
        self.path = path
        self._disk = SqliteStore(path, seals=False)
        self._is_loaded = False
        self._use_none()

    def _use_none(self) -> None:
        self._snapshot = Snapshot()
        self._below: dict[Row, bytes] = {}  # the memos on the disk, encoded
        self._reads = array("q"), array("q"), array("q")  # on the disk: the columns of the table, by row and item
        self._memos: dict[Row, Memo] = {}
        self._past: dict[Row, list[Memo]] = {}
        self._readers: dict[Row, dict[Item, set[Row]]] = {}
        self._values: dict[bytes, bytes] = {}
        self._size, self._limit = 0, LIMIT

    # ---- revisions

    def begin(self) -> tuple[Snapshot, bool]:
        """The state of the last commit; at first, that of the disk."""
        same = self._is_loaded
        if not same:
            self._load()
        return self._snapshot, same

    def _load(self) -> None:
        self._use_none()
        self._is_loaded = True
        if is_file(self.path):
            self._snapshot, _ = self._disk.begin()
            self._below = dict(self._disk.memos())
            rows, items, readers = self._reads
            for row, item, reader in self._disk.reads():
                rows.append(row)
                items.append(item)
                readers.append(reader)
            self._disk.release()

    def is_current(self) -> bool:
        """True: nothing else changes what is in memory."""
        return True

    def commit(self, changes: Changes) -> bool:
        """Keeps changes until `close`."""
        self._snapshot = changes.snapshot
        self._memos.update(changes.memos)
        self._past.update(changes.past)
        for row in changes.readers.rows():
            known = self._readers.setdefault(row, {})
            for item, reader in changes.readers.of(row):
                known.setdefault(item, set()).add(reader)
        return True

    def collect(self, compared: Mapping[Row, Memo | None]) -> None:
        """Drops values, if they take much memory, that neither the memos here nor those `compared` with them have."""
        if self._size <= self._limit:
            return
        memos = [*compared.items(), *self._memos.items()]
        memos += [(row, memo) for row, past in self._past.items() for memo in past]
        live: set[bytes] = set()
        for row, memo in memos:
            if memo is not None:
                live.add(memo.digest)
                live.update(self._parts(memo) if is_table(row) else ())
        self._values = {key: value for key, value in self._values.items() if key in live}
        self._size = sum(map(len, self._values.values()))
        self._limit = max(LIMIT, 2 * self._size)

    def _parts(self, memo: Memo) -> Iterable[bytes]:
        return load_items(memo.value or self.value(memo.digest), self.value).parts()

    def discard(self) -> None:
        """Forgets everything, and what is on the disk, which is not touched."""
        self.close()
        self._is_loaded = True

    def set_aside(self) -> str:
        """Does nothing: what is on the disk is not touched."""
        return ""

    def close(self) -> None:
        """Forgets everything."""
        self._disk.close()
        self._use_none()
        self._is_loaded = False

    # ---- reading

    def memo(self, row: Row) -> Memo | None:
        """The memo of a row, None if it has none."""
        if row in self._memos or row not in self._below:
            return self._memos.get(row)
        return decode(memo_decoder, self._below[row])

    def memos_of(self, rows: Iterable[Row]) -> Iterable[tuple[Row, Memo]]:
        """The memos of rows that have one, each with its row."""
        return ((row, memo) for row in rows if (memo := self.memo(row)) is not None)

    def past(self, row: Row) -> list[Memo]:
        """Former memos of a row. A run may have added to those on the disk: each is true whenever it was made."""
        known = self._past.get(row)
        return known if known is not None else self._disk.past(row) if row in self._below else []

    def value(self, key: bytes) -> bytes:
        """The value with a digest. StoreDamaged if it is missing or has another digest."""
        value = self._values.get(key)
        if value is None and not self._below:
            raise StoreDamaged("a value is missing")
        return self._disk.value(key) if value is None else value

    def readers(self, row: Row, item: Item) -> Iterable[Row]:
        """The rows with a memo that depends on an item, and any whose item has the same hash."""
        rows, items, readers = self._reads
        start, end = bisect_left(rows, row), bisect_right(rows, row)
        key = hash_of_item(item)
        below = readers[bisect_left(items, key, start, end) : bisect_right(items, key, start, end)]
        return (*below, *self._readers.get(row, {}).get(item, ()))

    def all_readers(self, row: Row) -> Iterable[Row]:
        """The rows with a memo that depends on a row or any of its items."""
        rows, _, readers = self._reads
        below = readers[bisect_left(rows, row) : bisect_right(rows, row)]
        return set(below).union(*self._readers.get(row, {}).values())

    def rows(self) -> Iterable[Row]:
        """All rows with a memo."""
        return self._below.keys() | self._memos.keys()

    # ---- writing

    def put(self, key: bytes, value: bytes) -> None:
        """Adds a value by its digest."""
        if key not in self._values:
            self._values[key] = value
            self._size += len(value)
