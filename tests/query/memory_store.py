"""A store in memory."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.query.memo import Item, Memo, Row, StoreDamaged
from pipeline.query.store import Changes, Snapshot


class MemoryStore:
    """A store in memory."""

    path = "memory"
    problem = ""

    def __init__(self) -> None:
        self.discard()

    def begin(self) -> tuple[Snapshot, bool]:
        return self._snapshot, True

    def is_current(self) -> bool:
        return True

    def memo(self, row: Row) -> Memo | None:
        return self._memos.get(row)

    def past(self, row: Row) -> list[Memo]:
        return list(self._past.get(row, ()))

    def value(self, key: bytes) -> bytes:
        if key not in self._values:
            raise StoreDamaged("a value is missing")
        return self._values[key]

    def put(self, key: bytes, value: bytes) -> None:
        self._values[key] = value

    def readers(self, row: Row, item: Item) -> Iterable[Row]:
        return self._readers.get(row, {}).get(item, ())

    def all_readers(self, row: Row) -> Iterable[Row]:
        return {reader for readers in self._readers.get(row, {}).values() for reader in readers}

    def rows(self) -> Iterable[Row]:
        return list(self._memos)

    def commit(self, changes: Changes) -> bool:
        self._snapshot = changes.snapshot
        self._memos |= changes.memos
        self._past |= changes.past
        for reader, deps in changes.reads.items():
            for dep in deps:
                self._readers.setdefault(dep.row, {}).setdefault(dep.item, set()).add(reader)
        return True

    def discard(self) -> None:
        self._snapshot = Snapshot()
        self._memos: dict[Row, Memo] = {}
        self._past: dict[Row, list[Memo]] = {}
        self._values: dict[bytes, bytes] = {}
        self._readers: dict[Row, dict[Item, set[Row]]] = {}

    def close(self) -> None:
        pass
