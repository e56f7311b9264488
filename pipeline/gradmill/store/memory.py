"""An editor's store: results in memory, over a copy of the memos on the disk, which is only read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from gradmill.io.files import is_file
from gradmill.query.memo import Item, Memo, Row, StoreDamaged, decode, is_table
from gradmill.query.store import Changes, Snapshot
from gradmill.query.table import load_items
from gradmill.store.sqlite import Entry, SqliteStore, memo_decoder, past_decoder, readers_in

LIMIT = 16_000_000  # bytes of values in memory, at least, when those that no memo has are dropped


class MemoryStore:
    """A store whose commits stay in memory. It begins with the memos and readers of the store at `path`, which are
    copied once; the values of these are read when they are requested, without a transaction."""

    problem = ""

    def __init__(self, path: str) -> None:
        self.path = path
        self._disk = SqliteStore(path, writes=False)
        self._is_loaded = False
        self._use_none()

    def _use_none(self) -> None:
        self._snapshot = Snapshot()
        self._below: dict[Row, Entry] = {}  # what is on the disk
        self._memos: dict[Row, Memo] = {}
        self._past: dict[Row, list[Memo]] = {}
        self._readers: defaultdict[Row, dict[Item, set[Row]]] = defaultdict(dict)
        self._values: dict[bytes, bytes] = {}
        self._size, self._limit = 0, LIMIT

    # ---- revisions

    def begin(self) -> tuple[Snapshot, bool]:
        """The state of the last commit; at first, that of the disk."""
        same = self._is_loaded
        if not same:
            self._use_none()
            self._is_loaded = True
            if is_file(self.path):
                self._snapshot, _ = self._disk.begin()
                self._below = dict(self._disk.entries())
                self._disk.release()
        return self._snapshot, same

    def is_current(self) -> bool:
        """True: nothing else changes what is in memory."""
        return True

    def commit(self, changes: Changes) -> bool:
        """Keeps changes until `close`."""
        self._snapshot = changes.snapshot
        self._memos.update(changes.memos)
        self._past.update(changes.past)
        for row in changes.readers.rows():
            for item, reader in changes.readers.of(row):
                self._readers[row].setdefault(item, set()).add(reader)
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

    @property
    def is_overgrown(self) -> bool:
        """False: `collect` drops former results."""
        return False

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
        if row not in self._memos and (below := self._below.get(row)) is not None and below.memo:
            return decode(memo_decoder, below.memo)
        return self._memos.get(row)

    def memos_of(self, rows: Collection[Row]) -> Iterable[tuple[Row, Memo]]:
        """The memos of rows that have one, each with its row."""
        return ((row, memo) for row in rows if (memo := self.memo(row)) is not None)

    def past(self, row: Row) -> list[Memo]:
        """Former memos of a row."""
        if row not in self._past and (below := self._below.get(row)) is not None and below.past:
            return decode(past_decoder, below.past)
        return self._past.get(row, [])

    def value(self, key: bytes) -> bytes:
        """The value with a digest. StoreDamaged if it is missing or has another digest."""
        value = self._values.get(key)
        if value is None and not self._below:
            raise StoreDamaged("a value is missing")
        return self._disk.value(key) if value is None else value

    def readers(self, row: Row) -> Mapping[Item, Collection[Row]]:
        """The rows with a memo that depends on a row, by item."""
        below = readers_in(self._below.get(row, Entry()))
        above = self._readers.get(row, {})
        return {item: {*below.get(item, ()), *above.get(item, ())} for item in {*below, *above}}

    # ---- writing

    def put(self, key: bytes, value: bytes) -> None:
        """Adds a value by its digest."""
        if key not in self._values:
            self._values[key] = value
            self._size += len(value)
