"""An editor's store: results in memory, over a copy of the memos on the disk, which is only read."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gradmill.io.files import is_file
from gradmill.query.memo import Memo, Row
from gradmill.query.store import Changes, Snapshot
from gradmill.store.sqlite import Entry, SqliteStore

LIMIT = 32_000_000  # bytes of values in memory, besides twice those of the first commit


class MemoryStore(SqliteStore):
    """A store whose commits stay in memory. It begins with the memos and readers of the store at `path`, which are
    copied once; the values of these are read when they are requested, without a transaction."""

    def __init__(self, path: str) -> None:
        super().__init__(path, writes=False)
        self._disk = SqliteStore(path, writes=False)
        self._forget()

    def _forget(self) -> None:
        self._entry_of: dict[Row, Entry] = {}
        self._snapshot, self._is_loaded, self._size = Snapshot(), False, 0
        self.empty = False  # `put` writes nothing

    def begin(self) -> tuple[Snapshot, bool]:
        same = self._is_loaded
        if not same:
            self.discard()
            if is_file(self.path):
                self._snapshot, _ = self._disk.begin()
                self._entry_of = dict(self._disk.entries())
                self._disk.release()
        return self._snapshot, same

    def is_current(self) -> bool:
        return True

    @property
    def is_overgrown(self) -> bool:
        return self._held_size > LIMIT + 2 * self._size

    def commit(self, changes: Changes) -> bool:
        self._entry_of.update((row, Entry(*stored)) for row, *stored, _ in self._changed(changes))
        self._snapshot, self._size = changes.snapshot, self._size or self._held_size
        return True

    def discard(self) -> None:
        self.close()
        self._is_loaded = True

    def set_aside(self) -> str:
        return ""

    def close(self) -> None:
        super().close()
        self._disk.close()
        self._forget()

    def memos_of(self, rows: Collection[Row]) -> Iterator[tuple[Row, Memo]]:
        return ((row, memo) for row in rows if (memo := self.memo(row)) is not None)

    def value(self, key: bytes) -> bytes:
        return self._held[key] if key in self._held else self._disk.value(key)

    def _entry(self, row: Row) -> Entry:
        return self._entry_of.get(row, Entry())
