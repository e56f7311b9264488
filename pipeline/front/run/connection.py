"""A build's connection to its database. Each snapshot of the inputs begins a revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline.front.run.contents import units
from pipeline.front.run.notes import Forgotten, read_notes
from pipeline.front.run.roots import find_query
from pipeline.problems.plain import warn

if TYPE_CHECKING:
    from pipeline.query.database import Database
    from pipeline.query.memo import Input
    from pipeline.query.store import Store

LARGE = 1 << 30  # bytes of a store above which garbage is collected automatically
FIRST = 3_000_000  # the budget, in bytes, of a first build, which uses most values once


class Connection:
    """The database at `path`, and the tasks that `doit forget` named in the file `notes`. `budget`: bytes of memory for
    values, 0 for enough for one run; `seals`: whether a verified store is sealed; `store`: one to use in its
    place."""

    def __init__(self, path: str, notes: str, *, budget: int, seals: bool, store: Store | None) -> None:
        from pipeline.query.database import Database
        from pipeline.stages.set import CODE
        from pipeline.store.sqlite import SqliteStore, size_of

        size = size_of(path)
        if size > LARGE and store is None:
            from pipeline.front.run.collect import collect_set  # much code, rarely needed

            collect_set(path)
        self._notes = notes
        self._budget = budget
        self._begun = False
        store = store or SqliteStore(path, seals=seals)
        self.db: Database = Database(store, find_query, budget if size else FIRST, warn, CODE)
        self.forgotten = Forgotten({})

    def begin(self, inputs: Mapping[str, Input], stages: Mapping[str, object], *, cumulative: bool = False) -> None:
        """Begins a revision, and drops the rows of tasks that `doit forget` named. `stages`: those of analysis."""
        if self._begun and self._budget:
            self.db.budget = self._budget  # from the second revision on: also after a first build
        self._begun = True
        self.db.begin(inputs, cumulative=cumulative)
        self.forgotten = forgotten = Forgotten(read_notes(self._notes))
        if not forgotten:
            return
        named = units(self.db) if forgotten.about("emit") else {}
        tasks = {(family, unit.name): f"emit:{name}" for name, (family, unit) in named.items()}

        def wanted(name: tuple[Any, ...]) -> bool:
            module, _, query = str(name[0]).partition(":")
            if query == "text":
                return tasks.get(name[1:], "emit") in forgotten
            if query == "made" and f"shard:{name[-1]}" in forgotten:
                return True
            return module in stages and module in forgotten

        self.db.forget(wanted)
