"""The engine: calls queries, records their dependencies, verifies memos.

All state of a call is its memo, and whether its row is in `dirty`. A row that is not dirty has a valid memo, or was
never called. `verify` makes a dirty row clean: its memo is valid if all dependencies have the digests recorded in it,
and so is a past memo; otherwise the query runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import UNSET, Raw

from gradmill.query.memo import (
    INPUT,
    MISSING,
    NAMES,
    NO_DIAGNOSTICS,
    SMALL,
    Dep,
    Find,
    Input,
    Item,
    Memo,
    Name,
    Row,
    StoreDamaged,
    decode,
    digest,
    encode,
    encode_value,
    row_of,
    row_of_query,
)
from gradmill.query.query import Parts, Query, Table
from gradmill.query.store import Readers, Store
from gradmill.query.table import Items, load_items, make_items

PAST = 7  # memos that are kept of a row besides the latest
BUDGET = 16_000_000  # bytes of encoded values, of which the decoded ones stay in memory
V = TypeVar("V")
P = ParamSpec("P")
E = TypeVar("E", bound="Engine")


class Cycle(Exception):
    """A query that depends on its own value."""


class IncrementalBug(Exception):
    """A request fails on the results of earlier revisions, and succeeds without them. Its cause is the failure."""


class Call:
    """A call in memory, or an input: then it has no query, and never a memo."""

    __slots__ = ("memo", "name", "past", "query", "row", "running", "value")

    def __init__(self, name: Name, row: Row, query: Query[Any, Any] | None, memo: Memo | None) -> None:
        self.name = name
        self.row = row
        self.query = query
        self.memo = memo
        self.past: list[Memo] | None = None  # the latest first; None: not loaded
        self.value: Any = UNSET  # decoded; Items for a table
        self.running = False


def retried(method: Callable[Concatenate[E, P], V]) -> Callable[Concatenate[E, P], V]:
    """Repeats what is requested outside of all queries on an empty store if it fails. Damage is repaired so. Any other
    error is raised again, unless it has no other cause than the results of earlier revisions: then IncrementalBug is.
    """

    @wraps(method)
    def attempt(engine: E, /, *args: P.args, **kwargs: P.kwargs) -> V:
        if engine.is_active:
            return method(engine, *args, **kwargs)
        engine.is_active = True
        try:
            try:
                return method(engine, *args, **kwargs)
            except StoreDamaged as damage:
                engine.start_over(damage)
                return method(engine, *args, **kwargs)
            except Exception as error:
                if not engine.is_bug(error) or not engine.is_warm:
                    raise
                failure = error
            engine.empty()
            method(engine, *args, **kwargs)
            raise engine.set_aside(failure) from failure
        finally:
            engine.is_active = False

    return attempt


class Frame:
    """The dependencies and diagnostics of the active query."""

    __slots__ = ("deps", "diagnostics", "height")

    def __init__(self) -> None:
        self.deps: dict[tuple[Row, Item], bytes] = {}
        self.diagnostics: list[Raw] = []
        self.height = 0


class Engine:
    """All calls, as they are in one revision of the inputs.

    `find` returns a query by its name, None for one that no longer exists. `warn` is called with a line if the store is
    damaged. `budget` limits the values in memory. `expected`: the exceptions that queries raise on purpose. All memos
    of a store are of the same code: the caller opens another store for other code.
    """

    def __init__(
        self,
        store: Store,
        find: Find,
        budget: int,
        warn: Callable[[str], object],
        expected: tuple[type[Exception], ...] = (),
    ) -> None:
        self._store = store
        self._find = lru_cache(maxsize=None)(find)
        self.budget = budget or BUDGET  # may be raised
        self._warn = warn
        self._no_bugs: tuple[type[Exception], ...] = (StoreDamaged, OSError, MemoryError, *expected)
        self._frame: Frame | None = None  # of the query that runs
        self.is_warm = False  # whether a memo is of an earlier revision
        self.is_damaged = False  # whether the store was found to be damaged
        self.is_active = False  # whether a request is being answered
        self.reset({})

    def reset(self, inputs: Mapping[str, Input]) -> None:
        """Drops everything in memory."""
        self.inputs = inputs
        self.dirty: set[Row] = set()  # rows whose memo may not be valid
        self.unverified: set[Row] = set()  # those of them that have been dirty since an earlier revision
        self.changed: dict[Row, Memo | None] = {}  # rows whose value changed in this revision, and the memo before
        self.replaced: dict[Row, Memo | None] = {}  # rows with another memo than what `explain` compares with
        self.reporting: set[Row] = set()  # rows with diagnostics
        self.ran: set[Name] = set()
        self._unsaved: dict[Row, Call] = {}
        self._readers = Readers()  # those that the store does not know yet
        self._by_name: dict[Name, Call] = {}
        self._by_row: dict[Row, Call] = {}
        self._recent: OrderedDict[Row, int] = OrderedDict()  # values in memory and their sizes, least recent first
        self._size = 0
        for label in inputs:
            self._input(label)

    # ---- what queries call

    @retried
    def get(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Any:
        """The value of a query in this revision."""
        call = self._by_name.get((query.name, *args)) or self.call(query, args)
        memo = call.memo
        if memo is None or call.row in self.dirty:
            memo = self.verify(call)
        self._depend(call.row, None, memo.digest, memo.height)
        if isinstance(query, Table):
            return self.items(call).all(query.items_decoder)
        if call.value is UNSET:
            self._load_value(call, memo)
        elif call.row in self._recent:
            self._recent.move_to_end(call.row)
        return call.value

    @retried
    def item(self, table: Table[Any, Any], args: tuple[Any, ...], item: str) -> Any:
        """One item of a table, None if it is absent."""
        call = self._by_name.get((table.name, *args)) or self.call(table, args)
        memo = self.verify(call)
        entry = self.items(call).get(item)
        self._depend(call.row, item, MISSING if entry is None else entry.digest, memo.height)
        return None if entry is None else decode(table.item_decoder, entry.value)

    @retried
    def names(self, table: Table[Any, Any], *args: Any) -> list[str]:
        """The names of a table's items, in order: a dependency that no item's value affects."""
        call = self.call(table, args)
        memo = self.verify(call)
        items = self.items(call)
        self._depend(call.row, NAMES, items.outline.names, memo.height)
        return items.names()

    @retried
    def digest(self, query: Query[Any, Any], *args: Any) -> bytes:
        """The digest of a query's value: the same dependency, without the value."""
        call = self.call(query, args)
        memo = self.verify(call)
        self._depend(call.row, None, memo.digest, memo.height)
        return memo.digest

    def input(self, label: str) -> bytes | None:
        """The bytes of an input, None if there is no such input."""
        call = self._input(label)
        self._depend(call.row, None, self._digest_of_input(label), 0)
        return self.inputs[label].data if label in self.inputs else None

    def report(self, diagnostic: object) -> None:
        """Adds a diagnostic to the memo of the active query."""
        assert self._frame is not None
        self._frame.diagnostics.append(Raw(encode(diagnostic)))

    # ---- failures

    def start_over(self, damage: StoreDamaged) -> None:
        """Reports a damaged store, and goes on with an empty one."""
        self._warn(f"{self._store.path}: the store is damaged ({damage}): it is discarded, and rebuilt\n")
        self.is_damaged = True
        self.empty()

    def empty(self) -> None:
        """Discards the store and all memory. Whatever is requested next is computed from the inputs."""
        self._store.discard()
        self.is_warm = False
        self.reset(self.inputs)

    def is_bug(self, error: Exception) -> bool:
        """Whether only an error of the program explains an exception."""
        return not isinstance(error, self._no_bugs)

    def set_aside(self, failure: Exception) -> IncrementalBug:
        """Moves the store on the disk out of the way of later runs; the error to raise for a failure on it."""
        kept = self._store.set_aside()
        return IncrementalBug(
            f"a bug of gradmill: this fails on the results of earlier runs, and succeeds without them"
            f" ({type(failure).__name__}). The next run starts without them"
            + (f"; report this with the old ones, {kept}" if kept else f": if it does not, delete {self._store.path}")
        )

    def _depend(self, row: Row, item: Item, digest: bytes, height: int) -> None:
        """Records a dependency of the active query."""
        frame = self._frame
        if frame is not None:
            frame.deps[row, item] = digest
            if height >= frame.height:
                frame.height = height + 1

    # ---- verifying

    def verify(self, call: Call) -> Memo:
        """A call's memo, valid in this revision. Runs the query if no memo is."""
        memo = call.memo
        if memo is not None and call.row not in self.dirty:
            return memo
        if call.running:
            raise Cycle(f"{call.name[0]} needs its own value for {call.name[1:]}")
        valid = self.valid_memo(call)
        if valid is None:
            valid = self._run(call)
            self.ran.add(call.name)
        elif valid is not memo:
            self._replace(call, valid)
        self.dirty.discard(call.row)
        return valid

    def valid_memo(self, call: Call) -> Memo | None:
        """The memo of a dirty call that is valid in this revision, past memos included; None if the query must run.

        A row that became dirty in this revision was clean before: then only changed dependencies need a look.
        """
        memo = call.memo
        if memo is None:
            return None
        maybe = memo.deps
        if call.row not in self.unverified:
            maybe = tuple(dep for dep in maybe if dep.row in self.dirty or dep.row in self.changed)
        changed = self._first_changed(maybe)
        if changed is None:
            return memo
        at, now = (changed.row, changed.item), self._digest_now(changed)
        for past in self._past(call):  # most differ in the same dependency: of many, the last one may
            same = all(dep.digest == now for dep in past.deps if (dep.row, dep.item) == at)
            if same and self._first_changed(past.deps) is None:
                return past
        return None

    def _first_changed(self, deps: Iterable[Dep]) -> Dep | None:
        """The first dependency without the digest recorded. In order: a later one may exist only if an earlier did."""
        return next((dep for dep in deps if self._digest_now(dep) != dep.digest), None)

    def _digest_now(self, dep: Dep) -> bytes:
        """What a dependency gives in this revision; no digest at all for an item of a query that no longer exists."""
        call = self._by_row.get(dep.row) or self.by_row(dep.row)
        if call is None:  # an input that is still absent, or a call that differs whatever it gave
            return MISSING if dep.item is None else b""
        if call.query is None:
            return self._digest_of_input(call.name[1])
        memo = self.verify(call)
        return memo.digest if dep.item is None else self.items(call).digest(dep.item)

    def _run(self, call: Call) -> Memo:
        """Runs a query; the new memo. Its value is in memory."""
        query, before, outer = call.query, call.memo, self._frame
        assert query is not None
        if before is not None:
            self._expect(before.deps)
        self._frame = frame = Frame()
        call.running = True
        try:
            value = query.function(self, *call.name[1:])
        finally:
            self._frame = outer
            call.running = False
        if isinstance(query, Table):
            value = make_items(value, self._store.put, self._store.value)
            data = encode(value.outline)
        else:
            data = encode_value(query, value)
        key, inline = digest(data), None if not query.keep else data if len(data) <= SMALL else b""
        if inline == b"":
            self._store.put(key, data)
        deps = tuple(Dep(*dep, digest) for dep, digest in frame.deps.items())
        memo = Memo(call.name, key, deps, Raw(encode(frame.diagnostics)), frame.height, inline)
        if before is None or before.deps != deps or before.digest != key:  # else it ran only for its value
            self._replace(call, memo)
        self._keep(call, value, value.size if isinstance(value, Parts) else len(data))
        return memo

    def _replace(self, call: Call, memo: Memo) -> None:
        """Gives a call another memo."""
        row, before = call.row, call.memo
        if before is not None:
            call.past = [before, *(past for past in self._past(call) if past is not memo)][:PAST]
        call.memo, call.value = memo, UNSET
        self._unsaved[row] = call
        self.replaced.setdefault(row, before)
        if before is None or before.digest != memo.digest:
            self.changed.setdefault(row, before)
        new = memo.deps
        if before is not None:
            known = {(dep.row, dep.item) for dep in before.deps}
            new = tuple(dep for dep in new if (dep.row, dep.item) not in known)
        self._readers.add(new, row)
        (self.reporting.discard if memo.diagnostics == NO_DIAGNOSTICS else self.reporting.add)(row)

    # ---- calls by name and by number

    def call(self, query: Query[Any, Any], args: tuple[Any, ...]) -> Call:
        """A call of a query: from memory, from the store, or without a memo."""
        name = (query.name, *args)
        call = self._by_name.get(name)
        if call is None:
            found = self._find(query.name)
            if found is not query:
                why = "is not found by its name" if found is None else "is the name of two queries"
                raise TypeError(f"{query.name} {why}: a later run could not verify its memos")
            row = row_of_query(query, args)
            memo = self._load_memo(row)
            call = self._add(Call(name, row, query, memo if memo is not None and memo.name == name else None))
        return call

    def by_name(self, name: Name) -> Call | None:
        """A call by its name, None if its query no longer exists."""
        query = self._find(name[0])
        return self._by_name.get(name) if query is None else self.call(query, name[1:])

    def by_row(self, row: Row) -> Call | None:
        """A call by its number, None if it has no memo, or its query no longer exists or takes other keys."""
        call = self._by_row.get(row)
        memo = self._load_memo(row) if call is None else None
        return call if memo is None else self._call_of(row, memo)

    def _call_of(self, row: Row, memo: Memo) -> Call | None:
        query = self._find(memo.name[0])
        if query is None or row != row_of_query(query, memo.name[1:]) or query.arity != len(memo.name) - 1:
            return None
        return self._add(Call(memo.name, row, query, memo))

    def _expect(self, deps: Iterable[Dep]) -> None:
        """Loads the memos of dependencies at once: a query that runs again reads mostly what it read before."""
        rows = {dep.row for dep in deps if dep.row not in self._by_row}
        for row, memo in self._store.memos_of(rows):
            self.is_warm = True
            self._call_of(row, memo)

    def _load_memo(self, row: Row) -> Memo | None:
        memo = self._store.memo(row)
        self.is_warm = self.is_warm or memo is not None
        return memo

    def _input(self, label: str) -> Call:
        name = INPUT, label
        return self._by_name.get(name) or self._add(Call(name, row_of(name), None, None))

    def _add(self, call: Call) -> Call:
        self._by_name[call.name] = self._by_row[call.row] = call
        return call

    def _digest_of_input(self, label: str) -> bytes:
        data = self.inputs.get(label)
        return MISSING if data is None else data.digest

    def _past(self, call: Call) -> list[Memo]:
        if call.past is None:
            call.past = self._store.past(call.row)
        return call.past

    def readers(self, row: Row, items: Collection[Item] | None = (None,)) -> set[Row]:
        """The rows that have, or had, a dependency on one of a row's items, or on its value; None: on any."""
        unsaved = {reader for item, reader in self._readers.of(row) if items is None or item in items}
        known = self._store.readers(row)
        return unsaved.union(*(known.values() if items is None else (known.get(item, ()) for item in items)))

    # ---- values

    def items(self, call: Call) -> Items:
        """The items of a table whose memo is valid."""
        if call.value is UNSET:
            assert call.memo is not None
            self._keep(call, load_items(self._bytes(call.memo), lambda key: self._load_part(call, key)), SMALL)
        elif call.row in self._recent:
            self._recent.move_to_end(call.row)
        items: Items = call.value
        return items

    def items_of(self, memo: Memo) -> Items:
        """The items that a table had by one of its memos."""
        return load_items(self._bytes(memo), self._store.value)

    def _load_value(self, call: Call, memo: Memo) -> None:
        """Decodes a value; runs the query again if it is not kept."""
        assert call.query is not None
        if memo.value is not None:
            data = self._bytes(memo)
            self._keep(call, decode(call.query.decoder, data), len(data))
        elif self._run(call).digest != memo.digest:
            raise RuntimeError(f"the query {call.name[0]} is impure: it returned another value than recorded")

    def _bytes(self, memo: Memo) -> bytes:
        return memo.value or self._store.value(memo.digest)

    def _load_part(self, table: Call, key: bytes) -> bytes:
        """A part of a table, which takes memory as long as the table does."""
        data = self._store.value(key)
        if table.row in self._recent:
            self._recent[table.row] += len(data)
            self._size += len(data)
        return data

    def _keep(self, call: Call, value: Any, size: int) -> None:
        """Keeps a value in memory, and drops those that were used least recently."""
        call.value = value
        self._size += size - self._recent.pop(call.row, 0)
        self._recent[call.row] = size
        while self._size > self.budget and len(self._recent) > 1:
            row, freed = self._recent.popitem(last=False)
            self._size -= freed
            self._by_row[row].value = UNSET
