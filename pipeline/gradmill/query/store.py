"""What the engine knows of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from gradmill.query.memo import Dep, Item, Memo, Row


class Snapshot(Struct, frozen=True, array_like=True):
    """What a commit records of the state as a whole."""

    inputs: dict[str, bytes] = {}  # digests by label
    dirty: tuple[Row, ...] = ()
    reporting: tuple[Row, ...] = ()  # rows with diagnostics


class Readers:
    """Who reads what: for each row the item that is read and the reader, in turn, as a first build has 90,000; some
    more than once."""

    def __init__(self) -> None:
        self._of: defaultdict[Row, list[Any]] = defaultdict(list)

    def add(self, deps: Iterable[Dep], reader: Row) -> None:
        """Adds a row that has dependencies."""
        of = self._of
        for dep in deps:
            of[dep.row] += (dep.item, reader)

    def of(self, row: Row) -> Iterator[tuple[Item, Row]]:
        """The items of a row that are read, each with a reader."""
        known = self._of.get(row, ())
        return zip(known[::2], known[1::2])

    def rows(self) -> Iterable[Row]:
        """The rows that are read."""
        return self._of


class Changes(Struct, frozen=True):
    """What a commit adds to a store. Values were put there before."""

    snapshot: Snapshot
    memos: Mapping[Row, Memo]
    past: Mapping[Row, list[Memo]]
    readers: Readers  # some may be known


class Store(Protocol):
    """Memos, values and readers. Every method may raise StoreDamaged but `discard`, `set_aside` and `close`."""

    path: str
    problem: str  # why nothing can be committed, "" if it can

    def begin(self) -> tuple[Snapshot, bool]:
        """Starts to read one consistent state; and whether it is the one that this store committed last."""

    def is_current(self) -> bool:
        """Whether what is read is still what `begin` found. Readers are trusted if it is so after they were read."""

    def memo(self, row: Row) -> Memo | None:
        """The latest memo of a row."""

    def memos_of(self, rows: Collection[Row]) -> Iterable[tuple[Row, Memo]]:
        """The latest memos of many rows, each with its row."""

    def past(self, row: Row) -> list[Memo]:
        """The memos before that, the latest first."""

    def value(self, key: bytes) -> bytes:
        """An encoded value by its digest."""

    def put(self, key: bytes, value: bytes) -> None:
        """Adds a value by its digest, for a later commit to keep."""

    def readers(self, row: Row) -> Mapping[Item, Collection[Row]]:
        """The rows whose memos have, or had, a dependency on a row, by item."""

    def commit(self, changes: Changes) -> bool:
        """Keeps changes, all or none. False if they could not be kept, as `problem` says, or as another process has
        committed since `begin`."""

    @property
    def is_overgrown(self) -> bool:
        """Whether it has so many former results that a new store is better."""

    def discard(self) -> None:
        """Starts with an empty state. The next commit puts it in the place of all that the store has."""

    def set_aside(self) -> str:
        """Keeps what is on the disk where no run reads it. The path there, "" if it stays in its place."""

    def close(self) -> None:
        """Drops what was not committed."""
