"""The database: rounds over the engine. One begins with what may be stale, and ends with what is kept.

What may be stale are the rows that read something that changed, and their readers, and theirs: their numbers, no row is
looked at for that. Tables end that spread: a table is brought up to date as soon as all below it is settled, as its
height says, and only the readers of items that came out different are doubted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

import msgspec
from msgspec import UNSET

from pipeline.query.engine import ENGINE, Engine
from pipeline.query.query import Query, Table
from pipeline.query.readers import Readers
from pipeline.query.row import (
    INPUT,
    ITEM,
    MISSING,
    Name,
    Record,
    Row,
    Taken,
    encode,
    packed_ids,
    unpacked,
    unpacked_ids,
)
from pipeline.query.rows import Cycle, Rows
from pipeline.query.values import StoreDamaged

__all__ = ["ENGINE", "Cycle", "Database"]

_digests_decoder = msgspec.msgpack.Decoder(dict[str, bytes])


class Database(Engine):
    """An engine and its rounds: `begin`, any calls of queries, `commit`."""

    def begin(self, inputs: Mapping[str, Taken]) -> None:
        """Starts a round, in which `inputs` stay what they are."""
        self._settled = False
        try:
            if not self._store.begin():
                self._reset(inputs)
            self._settle(inputs)
        except StoreDamaged as damage:
            self._start_over(damage, inputs)
        self._settled = True

    def _settle(self, inputs: Mapping[str, Taken]) -> None:
        """Finds out which rows may be stale."""
        store, rows = self._store, self.rows
        self.before, self.ran = {}, set()
        self.noisy = unpacked_ids(store.note("noisy"))
        rows.tables |= unpacked_ids(store.note("tables"))
        self._carried = unpacked_ids(store.note("pending"))
        known = _digests_decoder.decode(store.note("inputs") or b"\x80")
        rows.begin(inputs)
        changed = []
        for label in {**known, **inputs}:
            row = rows.named((INPUT, label))
            row.digest, row.value = rows.digest_of_input(label), UNSET
            if known.get(label, MISSING) != row.digest:
                changed.append(row.id)
        spread(rows, changed, self._carried, self._bring)

    def commit(self) -> bool:
        """Ends a round: keeps what it found. False where that was not possible, as another process wrote first."""
        if not self._settled:
            return False
        try:
            kept = self._keep()
        except StoreDamaged as damage:
            self._start_over(damage, self.rows.inputs)
            kept = False
        if not kept:
            self._reset(self.rows.inputs)
        return kept

    def _keep(self) -> bool:
        rows = self.rows
        doubted = self._store.ids() if rows.touched is None else rows.doubted
        pending = [id_ for id_ in doubted if not rows.holds(id_)]
        notes = {
            "inputs": encode({label: taken.digest for label, taken in rows.inputs.items()}),
            "pending": packed_ids(pending),
            "noisy": packed_ids(self.noisy),
            "tables": packed_ids(rows.tables),
        }
        rows.put_values()
        unsaved = rows.unsaved.values()
        records = {row.id: Record(row.name, row.trace) for row in unsaved if row.trace is not None}
        older = {row.id: row.older for row in unsaved if row.older}
        kept = self._store.commit(notes, records, older, rows.readers.news())
        rows.unsaved, rows.readers = {}, Readers(self._store)
        return kept

    def current(self, query: Query[Any, Any], *args: Any) -> bool:
        """Whether a row is known to hold, before anything is looked at."""
        return self.rows.named((query.name, *args), query).fresh

    def reads_in_doubt(self, query: Query[Any, Any], *args: Any) -> list[Name] | None:
        """What a row read when it was last made, and is not known to give the same now: by name, items by that of their
        kind alone. None where that is not known of all that it read."""
        rows = self.rows
        row = rows.named((query.name, *args), query)
        if row.trace is None or rows.touched is None or row.id in self._carried:
            return None
        found = []
        for id_, given in unpacked(row.trace.reads):
            if id_ in rows.touched and rows.known(id_, b"") != given:
                read = None if id_ in rows.moved else rows.numbered(id_)
                found.append((ITEM,) if read is None else read.name)
        return found

    def holds(self, query: Query[Any, Any], *args: Any) -> bool:
        """Whether a row needs no run. What it reads is brought up to date, it itself is not."""
        row = self.rows.named((query.name, *args), query)
        if row.fresh or row.trace is None:
            return row.fresh
        return self.attempt(lambda: self._may_hold(self.rows.named(row.name, query)))

    def _may_hold(self, row: Row) -> bool:
        return row.trace is not None and self._matching(row, row.trace) is not None

    @property
    def problem(self) -> str:
        """Why nothing that is found can be kept; empty where it can."""
        return self._store.problem

    def close(self) -> None:
        """Lets go of the store; what was not kept is dropped."""
        self._store.close()

    def forget(self, wanted: Callable[[Name], bool]) -> None:
        """Makes rows as if they had never been made: their readers are dirty, as where something changed."""
        self.attempt(lambda: self._forget(wanted))

    def _forget(self, wanted: Callable[[Name], bool]) -> None:
        forgotten = set()
        for id_ in self._store.ids():
            row = self.rows.numbered(id_)
            if row is not None and row.query is not None and wanted(row.name):
                row.trace, row.older, row.digest, row.items, row.fresh = None, [], MISSING, None, False
                self.rows.unsaved.pop(id_, None)
                forgotten.add(id_)
        self.rows.doubted -= forgotten
        spread(self.rows, forgotten, forgotten, self._bring)


def spread(rows: Rows, changed: Iterable[bytes], carried: set[bytes], bring: Callable[[Row], None]) -> None:
    """Doubts the readers of `changed` rows, and the rows `carried` over from an earlier round.

    Whoever reads a row that is carried is carried too, or was never known to hold: so only tables are looked at.
    """
    assert rows.touched is not None
    waiting = [_height(rows, id_) for id_ in carried & rows.tables if rows.doubt(id_)]
    heapify(waiting)
    rows.doubted |= carried
    rows.touched |= carried.union(changed)
    _doubt_readers(rows, changed, waiting)
    while waiting:
        row = rows.numbered(heappop(waiting)[1])
        if row is not None and not isinstance(row.query, Table):  # it was one once
            rows.met.append(row.id)
        elif row is not None and not row.fresh:
            bring(row)
        met, rows.met = rows.met, []
        _doubt_readers(rows, met, waiting)


def _doubt_readers(rows: Rows, changed: Iterable[bytes], waiting: list[tuple[int, bytes]]) -> None:
    """Doubts the readers of what changed, and theirs, up to the tables, which have to wait."""
    unread = list(changed)
    while unread:
        for reader in filter(rows.doubt, rows.readers.of(unread.pop())):
            if reader in rows.tables:
                heappush(waiting, _height(rows, reader))
            else:
                unread.append(reader)


def _height(rows: Rows, id_: bytes) -> tuple[int, bytes]:
    """A table, to be met after all that is below it."""
    row = rows.numbered(id_)
    if row is None and not rows.was_dropped(id_):
        raise StoreDamaged("a table is missing")
    return (0 if row is None else row.height), id_
