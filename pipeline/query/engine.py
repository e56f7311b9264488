"""The engine of a database: calls queries, remembers what they read and gave, and decides what still holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET, Raw

from pipeline.query.query import Query, Table
from pipeline.query.row import (
    INPUT,
    ITEM,
    MISSING,
    NAMES,
    Frame,
    Item,
    Name,
    Row,
    Taken,
    Trace,
    digest,
    encode,
    encode_sorted,
    identity,
    packed,
    unpacked,
)
from pipeline.query.rows import ROOM, Cycle, Damaged, Find, Rows
from pipeline.query.store import SMALL, Store

OLDER = 7  # traces that a row keeps beside its latest
ENGINE = "engine"  # the input that stands for this package and the libraries that output depends on


class Engine:
    """Rows of all queries, within a round.

    `find` gives a query by its name, None for one that is no more. `code` is a query that gives the digest of the code
    that a module reaches: the first thing that every row reads, but for those of `code`'s own module.
    """

    def __init__(self, store: Store, find: Find, code: Query[[str], bytes], room: int = ROOM) -> None:
        self._store = store
        self._room = room  # bytes of values that may stay in memory
        self._find = find
        self._code = code
        self._frame: Frame | None = None
        self._reset({})

    def _reset(self, inputs: Mapping[str, Taken]) -> None:
        """Forgets all that is in memory, and takes nothing in the store on trust."""
        self.rows = Rows(self._store, self._find, inputs, self._room)
        self.noisy: set[int] = set()  # rows with problems
        self.before: dict[int, Trace | None] = {}  # the latest traces of rows that this round replaced
        self.ran: set[Name] = set()  # by this round
        self._carried: set[int] = set()  # rows that were in doubt before this round
        self._settled = False

    def _distrust(self, inputs: Mapping[str, Taken]) -> None:
        """Forgets all that is in memory, and what was noted about all rows: the rows themselves say that too."""
        self._reset(inputs)
        for id_, record in self._store.records().items():
            if record.trace.problems:
                self.noisy.add(id_)
            if isinstance(self.rows.find(record.name[0]), Table):
                self.rows.tables.add(id_)

    # ---- reading

    def get(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Any:
        """The value of a query, as it is in this round."""
        name = (query.name, *args)
        frame = self._frame
        if frame is None:
            return self._top(lambda: self._read(self.rows.named(name, query)))
        row = self.rows.by_name.get(name)
        if row is None or not row.fresh or row.value is UNSET:
            return self._read(row or self.rows.named(name, query))
        frame.reads[row.id] = row.digest  # as `_read` does: most reads are these
        if row.height >= frame.height:
            frame.height = row.height + 1
        return row.value

    def item(self, table: Table[Any, Any], args: tuple[Any, ...], item: str) -> Any:
        """One item of a table, None when there is none."""
        name = (ITEM, table.name, *args, item)
        if self._frame is None:
            return self._top(lambda: self._read(self.rows.named(name)))
        return self._read(self.rows.named(name))

    def names(self, table: Table[Any, Any], *args: Any) -> list[str]:
        """The names of a table's items, in order: a read of its own, whatever the items say."""
        return self.item(table, args, NAMES) or []

    def digest(self, query: Query[Any, Any], *args: Any) -> bytes:
        """The digest of a query's value: a read like others, without a look at the value."""
        name = (query.name, *args)
        if self._frame is None:
            self._top(lambda: self._bring(self.rows.named(name, query)))
        row = self.rows.named(name, query)
        self._bring(row)
        self._note_read(row)
        return row.digest

    def input(self, label: str) -> bytes | None:
        """An input's bytes, None where there is no such input."""
        value: bytes | None = self._read(self.rows.named((INPUT, label)))
        return value

    def report(self, problem: object) -> None:
        """Adds a problem to the row of the query that is running."""
        assert self._frame is not None
        self._frame.problems.append(Raw(encode(problem)))

    def _top(self, work: Callable[[], Any]) -> Any:
        """Does what somebody outside of all queries asks for; once more where the store turns out to be damaged."""
        try:
            return work()
        except Damaged:
            self._distrust(self.rows.inputs)
            self._settled = True
            return work()

    def _read(self, row: Row) -> Any:
        if not row.fresh:
            self._bring(row)
        self._note_read(row)
        value = row.value
        return self._seen(row) if value is UNSET else value

    def _note_read(self, row: Row) -> None:
        frame = self._frame
        if frame is not None:
            frame.reads[row.id] = row.digest
            if row.height >= frame.height:
                frame.height = row.height + 1

    def _seen(self, row: Row) -> Any:
        """A row's value. For whoever is running this is the one read, whatever it takes."""
        frame, self._frame = self._frame, Frame()
        try:
            return self.rows.value(row, self._again)
        finally:
            self._frame = frame

    def _again(self, row: Row) -> Any:
        """Runs a query whose row holds, to see its value."""
        wanted, ran = row.digest, set(self.ran)
        value = self._run(row)
        self.ran = ran
        if row.digest != wanted:
            raise Damaged
        return value

    # ---- deciding

    def _bring(self, row: Row) -> None:
        """Makes a row hold: as it is, as it once was, or by running its query."""
        if row.fresh:
            return
        if row.query is None:
            self._bring_item(row)
            return
        if row.running:
            raise Cycle(f"{row.query.name} needs its own value for {row.name[1:]}")
        row.running, before = True, row.trace
        try:
            trace = self._matching(row)
            if trace is None:
                self._run(row)
            elif trace is not row.trace:
                self._adopt(row, trace)
            elif self.rows.touched is None:
                self.rows.note_readers(row, trace, None)
        finally:
            row.running = False
        row.fresh = True
        if row.trace is not before:
            self.before.setdefault(row.id, before)

    def _bring_item(self, row: Row) -> None:
        """An item is what its table says."""
        table = self.rows.table_of(row)
        self._bring(table)
        self.rows.item(table, row.name[-1])

    def _matching(self, row: Row) -> Trace | None:
        """The trace that holds in this round, None where the query has to run."""
        if row.trace is None:
            return None
        # What did not change in this round gives what it gave, unless the row was in doubt before.
        touched = None if row.id in self._carried else self.rows.touched
        if self._holds(row.trace, touched, {}) and (touched is not None or self.rows.is_there(row, row.trace)):
            return row.trace
        reads = unpacked(row.trace.reads) if touched is not None else ()
        known = {id_: found for id_, found in reads if touched is not None and id_ not in touched}
        older = (
            trace
            for trace in self.rows.older(row)
            if self._holds(trace, None, known) and self.rows.is_there(row, trace)
        )
        return next(older, None)

    def _holds(self, trace: Trace, touched: set[int] | None, known: Mapping[int, bytes]) -> bool:
        """Whether all that was read gives what it gave: the one walk that decides. In order, as a later read may
        depend on an earlier one."""
        for id_, found in unpacked(trace.reads):
            if touched is not None and id_ not in touched:
                continue
            now = known.get(id_)
            if now is None:
                row = self.rows.numbered(id_)
                if row is None:
                    return False
                self._bring(row)
                now = row.digest
            if now != found:
                return False
        return True

    def _adopt(self, row: Row, trace: Trace) -> None:
        """Takes an older trace for the latest."""
        assert row.trace is not None
        row.older = [row.trace, *(other for other in self.rows.older(row) if other is not trace)]
        items = self.rows.items_of(trace) if isinstance(row.query, Table) else None
        self._replace(row, trace, trace.value or None, items, {})

    def _run(self, row: Row) -> Any:
        """Runs a query, and makes a row of what it read and gave; gives the value."""
        query = row.query
        assert query is not None
        outer, frame = self._frame, Frame()
        self._frame = frame
        try:
            if query.module != self._code.module:
                self.get(self._code, (query.module,))
            else:
                self.input(ENGINE)
            value = query.function(self, *row.name[1:])
        finally:
            self._frame = outer
        raws: dict[str, bytes] = {}
        items: dict[str, Item] | None = None
        if isinstance(query, Table):
            raws = {NAMES: encode(list(value)), **{item: encode(found) for item, found in value.items()}}
            items = {item: Item(digest(raw), raw if len(raw) <= SMALL else b"") for item, raw in raws.items()}
            raw = encode([(item, found.digest) for item, found in items.items()])
        else:
            raw = (encode_sorted if query.sets else encode)(value)
        kept = raw if query.keep and items is None and len(raw) <= SMALL else b""
        trace = Trace(digest(raw), packed(frame.reads), tuple(frame.problems), frame.height, kept)
        before = row.trace
        if before is not None and (before.reads != trace.reads or before.digest != trace.digest):
            row.older = [before, *self.rows.older(row)][:OLDER]
        self._replace(row, trace, raw if query.keep and items is None else None, items, raws)
        if items is None:
            row.value = value
        self.ran.add(row.name)
        self.rows.weigh(row, len(raw))
        return value

    def _replace(
        self, row: Row, trace: Trace, raw: bytes | None, items: dict[str, Item] | None, raws: Mapping[str, bytes]
    ) -> None:
        """Gives a row a trace, and a table its items; `raws` are their encoded values where it has run."""
        rows, before = self.rows, row.trace
        if items is not None:
            known = rows.items(row) if before is not None else {}
            row.items, row.height = items, trace.height
            rows.tables.add(row.id)
            self._set_items(row, known, raws)
            if before is not None and before.digest != trace.digest:
                rows.move(row.id)
        rows.note_readers(row, trace, before)
        row.trace, row.digest, row.height = trace, trace.digest, trace.height
        row.raw, row.value = raw, UNSET
        rows.unsaved[row.id] = row
        (self.noisy.add if trace.problems else self.noisy.discard)(row.id)

    def _set_items(self, table: Row, before: Mapping[str, Item], raws: Mapping[str, bytes]) -> None:
        """Looks at the items of a table that changed, and at those that are in memory."""
        rows, after = self.rows, table.items or {}
        for item in {**before, **after}:
            name = (ITEM, *table.name, item)
            old, found = before.get(item), after.get(item)
            now = MISSING if found is None else found.digest
            if old is not None and old.digest == now and found is not None:
                found.value, found.at = old.value, old.at
            elif table.trace is not None:
                rows.move(identity(name))
            row = rows.in_memory(name)
            if row is None and found is not None and not found.value and not found.at and item in raws:
                row = rows.named(name)
            if row is not None:
                if row.digest != now:
                    row.digest, row.value = now, UNSET
                row.fresh, row.height, row.raw = True, table.height, raws.get(item)
                if row.raw is not None:
                    rows.weigh(row, len(row.raw))
