"""The database: revisions over the engine. One begins with new inputs, and ends with a commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gradmill.query.engine import Call, Engine, retried
from gradmill.query.invalidation import invalidate
from gradmill.query.memo import ITEM, MISSING, Dep, Find, Input, Memo, Name, Row, StoreDamaged, decode, row_of_query
from gradmill.query.query import Query
from gradmill.query.store import Changes, Readers, Snapshot, Store

Root = tuple[Any, ...]  # a query, and its key

_TRIES = 3  # to read one state of the store, while other processes commit


class Database(Engine):
    """An engine and its revisions: `begin`, any calls of queries, `commit`. `basis`: the label of the input that all
    memos of a store depend on without a dependency, "" for none. A store that was made from another one is discarded.
    """

    def __init__(
        self,
        store: Store,
        find: Find,
        budget: int = 0,
        warn: Callable[[str], object] = lambda line: None,
        basis: str = "",
        expected: tuple[type[Exception], ...] = (),
    ) -> None:
        super().__init__(store, find, budget, warn, expected)
        self._basis = basis
        self._complete = False  # whether invalidation ran to its end
        self._rows_read: dict[Row, tuple[Memo, frozenset[Row]]] = {}  # by the memos that `is_live` has seen

    # ---- revisions

    def begin(self, inputs: Mapping[str, Input]) -> None:
        """Begins a revision, in which `inputs` do not change."""
        self._complete, self.is_damaged = False, False
        try:
            for _ in range(_TRIES):
                snapshot, same = self._store.begin()
                if not same:
                    self.reset(inputs)
                self.is_warm = same
                self._begin(inputs, snapshot)
                if self._store.is_current():
                    break
            else:
                raise StoreDamaged("it changes while it is read")
            if self.changed and not same and self._store.is_overgrown:
                self.empty()
        except StoreDamaged as damage:
            self.inputs = inputs
            self.start_over(damage)
        self._complete, self.is_damaged = True, False

    def check(self) -> bool:
        """Whether the store was sound in all of this revision. If not, what was requested early may have been computed
        from wrong rows: all has to be requested again, on an empty store."""
        if not self.is_damaged and not self._store.is_current():
            self.start_over(StoreDamaged("it changed while it was read"))
        sound, self.is_damaged = not self.is_damaged, False
        return sound

    def _begin(self, inputs: Mapping[str, Input], snapshot: Snapshot) -> None:
        self.inputs, self.ran, self._rows_read = inputs, set(), {}
        basis = snapshot.inputs.get(self._basis, MISSING)
        if snapshot != Snapshot() and self._basis and basis != self._digest_of_input(self._basis):
            raise StoreDamaged("it was made by another gradmill, Python or library")
        self.dirty, self.reporting = set(snapshot.dirty), set(snapshot.reporting)
        self.unverified = set(snapshot.dirty)
        labels = {**snapshot.inputs, **inputs}
        changed = [label for label in labels if snapshot.inputs.get(label, MISSING) != self._digest_of_input(label)]
        self.changed = {self._input(label).row: None for label in changed}
        for label in labels:
            self._input(label)
        invalidate(self, list(self.changed))

    def commit(self) -> bool:
        """Ends a revision, and keeps what it computed. False if that was not possible: another process committed, or
        the store cannot be written, as `problem` says."""
        if not self._complete:
            return False
        digests = {label: data.digest for label, data in self.inputs.items()}
        snapshot = Snapshot(digests, tuple(sorted(self.dirty)), tuple(sorted(self.reporting)))
        memos = {row: call.memo for row, call in self._unsaved.items() if call.memo is not None}
        past = {row: call.past for row, call in self._unsaved.items() if call.past}
        try:
            kept = self._store.commit(Changes(snapshot, memos, past, self._readers))
        except StoreDamaged as damage:
            self.start_over(damage)
            return False
        if not kept:
            self.reset(self.inputs)
        self._unsaved, self._readers = {}, Readers()
        return kept

    @property
    def problem(self) -> str:
        """Why nothing can be committed, "" if it can."""
        return self._store.problem

    def close(self) -> None:
        """Closes the store; what was not committed is dropped."""
        self._store.close()

    def compare_from_here(self) -> None:
        """Has `explain` compare with this revision, in place of the first one since the store was read."""
        self.replaced = {}

    # ---- what is dirty

    @retried
    def expect(self, query: Query[Any, Any], *args: Any) -> None:
        """Reads at once what a call depends on, of which most is about to be requested."""
        memo = self.call(query, args).memo
        self._expect(memo.deps if memo is not None else ())

    @retried
    def is_clean(self, query: Query[Any, Any], *args: Any) -> bool:
        """Whether a call is known to be valid without a look at what it depends on."""
        call = self.call(query, args)
        return call.memo is not None and call.row not in self.dirty

    @retried
    def is_valid(self, query: Query[Any, Any], *args: Any) -> bool:
        """Whether a call need not run. Verifies what it depends on, and not the call itself."""
        try:
            return self.is_clean(query, *args) or self.valid_memo(self.call(query, args)) is not None
        except Exception as error:
            if not self.is_bug(error):
                raise
            return False  # who requests the value gets the error

    @retried
    def dirty_deps(self, query: Query[Any, Any], *args: Any) -> list[Name] | None:
        """What a call depends on and is not known to be unchanged: calls by name, and (ITEM,) for any item. None if
        that is not known of all dependencies."""
        call = self.call(query, args)
        if call.memo is None or call.row in self.unverified:
            return None
        deps = [dep for dep in call.memo.deps if dep.row in self.dirty or dep.row in self.changed]
        changed = [dep for dep in deps if self.known_digest(dep) != dep.digest]
        calls = [None if dep.item is not None else self.by_row(dep.row) for dep in changed]
        return [(ITEM,) if read is None else read.name for read in calls]

    def known_digest(self, dep: Dep) -> bytes | None:
        """The digest of a dependency if this revision knows it, else None. Verifies nothing."""
        call = self._by_row.get(dep.row)
        if call is None or call.query is None:
            return None if call is None else self._digest_of_input(call.name[1])
        if call.memo is None or call.row in self.dirty:
            return None
        return call.memo.digest if dep.item is None else self.items(call).digest(dep.item)

    # ---- what roots depend on: diagnostics, calls that ran

    @retried
    def reports(self, roots: Sequence[Root], type_: Any) -> list[tuple[Name, Any]]:
        """The diagnostics of all calls that `roots` depend on, decoded as `type_`, each with the call that reported it.
        Verifies the roots.

        Walks up from the few rows with diagnostics. A walk down would need a bit per row, and a bit that flips below a
        table would make all readers of all its items dirty.
        """
        for query, *args in roots:
            self.digest(query, *args)
        live = {row_of_query(query, tuple(args)): True for query, *args in roots}
        calls = [self.by_row(row) for row in sorted(self.reporting)]
        known = [(call, call.memo) for call in calls if call is not None and call.memo is not None]
        reports = [(call.name, memo.diagnostics) for call, memo in known if self.is_live(call, live)]
        decoder = msgspec.msgpack.Decoder(list[type_])
        return [(name, each) for name, own in reports for each in decode(decoder, own)]

    @retried
    def ran_for(self, root: Root, wanted: Callable[[Name], bool]) -> bool:
        """Whether calls ran in this revision that a root depends on by way of calls with wanted names. Others may run
        that nothing depends on any more."""
        query, *args = root
        live = {row_of_query(query, tuple(args)): True}
        ran = [call for name in self.ran if wanted(name) and (call := self.by_name(name)) is not None]
        return any(self.is_live(call, live, wanted) for call in ran)

    def is_live(self, call: Call, live: dict[Row, bool], within: Callable[[Name], bool] = lambda name: True) -> bool:
        """Whether a call that is `live` depends on another one, by way of calls whose names are `within` a set. Adds
        what it learns to `live`."""
        known = live.get(call.row)
        if known is None:
            live[call.row] = False
            readers = sorted(self.readers(call.row, None), key=lambda row: not live.get(row))  # live ones first
            known = live[call.row] = any(self._is_live_reader(row, call.row, live, within) for row in readers)
        return known

    def _is_live_reader(self, row: Row, read: Row, live: dict[Row, bool], within: Callable[[Name], bool]) -> bool:
        if live.get(row) is False:
            return False
        call = self.by_row(row)
        if call is None or not within(call.name):
            live[row] = False
            return False
        reads = call.memo is not None and read in self._rows_of(row, call.memo)
        return reads and self.is_live(call, live, within)

    def _rows_of(self, row: Row, memo: Memo) -> frozenset[Row]:
        """The rows that a memo depends on, as a set: each of its thousands of dependencies may report something."""
        known = self._rows_read.get(row)
        if known is None or known[0] is not memo:
            known = self._rows_read[row] = memo, frozenset(dep.row for dep in memo.deps)
        return known[1]
