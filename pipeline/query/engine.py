"""The engine of a database: calls queries, remembers what they read and gave, and decides what still holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import UNSET, Raw

from pipeline.query.query import Parts, Query, Table
from pipeline.query.row import (
    ABSENT,
    INPUT,
    KIN,
    LOOKED,
    MISSING,
    NAMES,
    Frame,
    Items,
    Name,
    Row,
    Taken,
    Trace,
    digest,
    encode,
    encoded,
    item_identity,
    made_items,
    packed,
    unpacked,
)
from pipeline.query.rows import FIRST, LATER, Cycle, Find, Rows
from pipeline.query.store import SMALL, Store
from pipeline.query.values import StoreDamaged

OLDER = 7  # traces that a row keeps beside its latest
V = TypeVar("V")

ENGINE = "engine"  # the input that stands for this package and the libraries that output depends on


class Engine:
    """Rows of all queries, within a round.

    `find` gives a query by its name, None for one that is no more. `code` is a query that gives the digest of the code
    that a module reaches: the first thing that every row reads, but for those of `code`'s own module. `warn` is given a
    line where the store was damaged.
    """

    def __init__(
        self,
        store: Store,
        find: Find,
        code: Query[[str], bytes],
        room: int = 0,
        warn: Callable[[str], object] = lambda line: None,
    ) -> None:
        self._store = store
        self._room = room  # bytes of values that may stay in memory; 0: as many as one round is worth
        self._find = find
        self._code = code
        self._warn = warn
        self._frame: Frame | None = None
        self._reset({})

    def _reset(self, inputs: Mapping[str, Taken]) -> None:
        """Forgets all that is in memory."""
        self.rows = Rows(self._store, self._find, inputs, self._room or (FIRST if self._store.empty else LATER))
        self.noisy: set[bytes] = set()  # rows with problems
        self.before: dict[bytes, Trace | None] = {}  # the latest traces of rows that this round replaced
        self.ran: set[Name] = set()  # by this round
        self._carried: set[bytes] = set()  # rows that were in doubt before this round
        self._settled = False
        for label in inputs:
            self.rows.named((INPUT, label))

    def _start_over(self, damage: StoreDamaged, inputs: Mapping[str, Taken]) -> None:
        """Discards the store and all that is in memory, and starts the round again: it makes the same."""
        self._warn(f"{self._store.path}: the store is damaged ({damage}): it is discarded, and rebuilt\n")
        self._store.begin_anew()
        self._reset(inputs)
        self.rows.begin(inputs)
        self._settled = True

    # ---- reading

    def get(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Any:
        """The value of a query, as it is in this round."""
        name = (query.name, *args)
        if self._frame is None:
            return self.attempt(lambda: self._read(self.rows.named(name, query)))
        return self._read(self.rows.by_name.get(name) or self.rows.named(name, query))

    def input(self, label: str) -> bytes | None:
        """An input's bytes, None where there is no such input."""
        value: bytes | None = self._read(self.rows.named((INPUT, label)))
        return value

    def item(self, table: Table[Any, Any], args: tuple[Any, ...], item: str) -> Any:
        """One item of a table, None when there is none."""
        if self._frame is None:
            return self.attempt(lambda: self._item(table, args, item))
        return self._item(table, args, item)

    def _item(self, table: Table[Any, Any], args: tuple[Any, ...], item: str) -> Any:
        row = self.rows.by_name.get((table.name, *args))
        if row is None or not row.fresh:
            row = self._brought(table, args)
        found = (row.items or self.rows.items(row)).get(item)
        if found is None:
            self._note(item_identity(row.id, item), MISSING, row.height)
            self._note(item_identity(row.id, ABSENT), LOOKED, row.height)
            return None
        self._note(item_identity(row.id, item), found.digest, row.height)
        return table.item_decoder.decode(found.value)

    def names(self, table: Table[Any, Any], *args: Any) -> list[str]:
        """The names of a table's items, in order: a read of its own, whatever the items say."""
        if self._frame is None:
            return self.attempt(lambda: self._names(table, args))
        return self._names(table, args)

    def _names(self, table: Table[Any, Any], args: tuple[Any, ...]) -> list[str]:
        row = self._brought(table, args)
        items = self.rows.items(row)
        self._note(item_identity(row.id, NAMES), items.digest(NAMES), row.height)
        return items.names()

    def digest(self, query: Query[Any, Any], *args: Any) -> bytes:
        """The digest of a query's value: a read like others, without a look at the value."""
        row = self.attempt(lambda: self._brought(query, args)) if self._frame is None else self._brought(query, args)
        self._note(row.id, row.digest, row.height)
        return row.digest

    def report(self, problem: object) -> None:
        """Adds a problem to the row of the query that is running."""
        assert self._frame is not None
        self._frame.problems.append(Raw(encode(problem)))

    def attempt(self, work: Callable[[], V]) -> V:
        """Does what is asked for outside of all queries; once more where the store turns out to be damaged."""
        try:
            return work()
        except StoreDamaged as damage:
            self._start_over(damage, self.rows.inputs)
            return work()

    def _brought(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Row:
        """A row that holds."""
        row = self.rows.named((query.name, *args), query)
        self._bring(row)
        return row

    def _read(self, row: Row) -> Any:
        made = UNSET if row.fresh else self._bring(row)
        frame = self._frame
        if frame is not None:
            frame.reads[row.id] = row.digest
            if row.height >= frame.height:
                frame.height = row.height + 1
        value, row.used = made if row.value is UNSET else row.value, True
        return self.rows.value(row, self._again) if value is UNSET else value

    def _note(self, id_: bytes, found: bytes, height: int) -> None:
        """Notes a read of whoever is running."""
        frame = self._frame
        if frame is not None:
            frame.reads[id_] = found
            if height >= frame.height:
                frame.height = height + 1

    def _again(self, row: Row) -> Any:
        """Runs a query whose row holds, to see its value."""
        wanted, value = row.digest, self._run(row)
        if row.digest != wanted:
            raise StoreDamaged("a query gives another value than is known")
        return value

    # ---- deciding

    def _bring(self, row: Row) -> Any:
        """Makes a row hold: as it is, as it once was, or by running its query, whose value is given."""
        if row.fresh:
            return UNSET
        assert row.query is not None
        if row.running:
            raise Cycle(f"{row.query.name} needs its own value for {row.name[1:]}")
        row.running, before, value = True, row.trace, UNSET
        try:
            trace = None if before is None else self._matching(row, before)
            if trace is None:
                value = self._run(row)
                self.ran.add(row.name)
            elif trace is not before:
                self._adopt(row, trace)
            elif self.rows.touched is None:
                self.rows.readers.note(row, trace, None)
        finally:
            row.running = False
        row.fresh = True
        if row.trace is not before:
            self.before.setdefault(row.id, before)
        return value

    def _matching(self, row: Row, latest: Trace) -> Trace | None:
        """The trace that holds in this round, None where the query has to run."""
        # What did not change in this round gives what it gave, unless the row was in doubt before.
        touched = None if row.id in self._carried else self.rows.touched
        if self._holds(latest, touched, {}):
            return latest
        known = {} if touched is None else {id_: found for id_, found in unpacked(latest.reads) if id_ not in touched}
        return next((trace for trace in self.rows.older(row) if self._holds(trace, None, known)), None)

    def _holds(self, trace: Trace, touched: set[bytes] | None, known: Mapping[bytes, bytes]) -> bool:
        """Whether all that was read gives what it gave: the one walk that decides. In order, as a later read may
        depend on an earlier one."""
        for id_, found in unpacked(trace.reads):
            if touched is None or id_ in touched:
                now = known.get(id_) or self._now(id_)
                if now is None and not any(self.rows.known(*read) != read[1] for read in unpacked(trace.reads)):
                    now = self._sought(id_, trace)
                if now != found:
                    return False
        return True

    def _now(self, id_: bytes) -> bytes | None:
        """What a row, or an item that moved, gives in this round, None for what is not known."""
        if id_ in self.rows.moved:
            return self.rows.moved[id_]
        row = self.rows.numbered(id_)
        if row is not None:
            self._bring(row)
        return None if row is None else row.digest

    def _sought(self, id_: bytes, trace: Trace) -> bytes | None:
        """What an item gives that is looked for among all tables: it may be one that a table did not have."""
        if (item := self.rows.item(id_, once=False)) is not None:
            self._bring(item[0])
            return LOOKED if item[1] == ABSENT else self.rows.items(item[0]).digest(item[1])
        read = (self.rows.item(other, once=False) for other, _ in unpacked(trace.reads))
        tables = [item[0] for item in read if item is not None and item[1] == ABSENT]
        for table in tables:
            self._bring(table)
            for name in (items := self.rows.items(table)).names():
                if item_identity(table.id, name) == id_:
                    return items.digest(name)
        return MISSING if tables else None

    def _adopt(self, row: Row, trace: Trace) -> None:
        """Takes an older trace for the latest."""
        assert row.trace is not None
        row.older = [row.trace, *(other for other in self.rows.older(row) if other is not trace)]
        self._replace(row, trace, self.rows.items_of(trace) if isinstance(row.query, Table) else None)

    def _run(self, row: Row) -> Any:
        """Runs a query, and makes a row of what it read and gave; gives the value."""
        query, before, outer = row.query, row.trace, self._frame
        assert query is not None
        self._frame = frame = Frame()
        try:
            if query.module != self._code.module:
                self.get(self._code, (query.module,))
            else:
                self.input(ENGINE)
            value = query.function(self, *row.name[1:])
        finally:
            self._frame = outer
        items = made_items(value, self.rows.put_items, self.rows.load) if isinstance(query, Table) else None
        raw = encode(items.outline) if items is not None else encoded(query, value)
        found, kept = digest(raw), raw if query.keep and len(raw) <= SMALL else b""
        trace = Trace(found, packed(frame.reads), tuple(frame.problems), frame.height, kept)
        if query.keep and not kept:
            self.rows.put(found, raw)
        if items is not None:
            self.rows.note_decoded(len(raw))
        if before is not None and before.reads == trace.reads and before.digest == found:
            trace = before  # it ran only to be seen
        elif before is not None:
            row.older = [before, *self.rows.older(row)][:OLDER]
        self._replace(row, trace, items)
        if items is None:
            self.rows.hold(row, value, value.size if isinstance(value, Parts) else len(raw))
        return value

    def _replace(self, row: Row, trace: Trace, items: Items | None) -> None:
        """Gives a row a trace, and a table its items."""
        rows, before = self.rows, row.trace
        if items is not None:
            if before is not None and before.digest != trace.digest:
                self._move(row, items)
            row.items = items
            rows.tables.add(row.id)
        rows.readers.note(row, trace, before if rows.touched is not None else None)
        row.trace, row.digest, row.height, row.value = trace, trace.digest, trace.height, UNSET
        if trace is not before:
            rows.unsaved[row.id] = row
        if trace.problems or row.id in self.noisy:
            (self.noisy.add if trace.problems else self.noisy.discard)(row.id)

    def _move(self, table: Row, after: Items) -> None:
        """Notes the items of a table that come out different: who read them is to be doubted."""
        gone: dict[bytes, bytes] = {}
        before = table.items or (None if table.trace is None else self.rows.items_of(table.trace))
        if before is not None:
            changed = before.changed(after)
        else:  # it was none: what was read of an earlier one may differ, or be missing
            read = () if self.rows.touched is None else self.rows.readers.read(table.id[:KIN])
            gone = dict.fromkeys(read, MISSING)
            changed = {NAMES: after.outline.names, ABSENT: LOOKED, **{name: item.digest for name, item in after.all()}}
        self.rows.move(table.id, gone | {item_identity(table.id, item): now for item, now in changed.items()})
