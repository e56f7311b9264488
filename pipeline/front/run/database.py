"""Opens the database of a build, and drops the rows of tasks that `doit forget` named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline.front.run.contents import units
from pipeline.front.run.notes import Forgotten
from pipeline.front.run.roots import find_query
from pipeline.problems.plain import warn

if TYPE_CHECKING:
    from pipeline.query.database import Database
    from pipeline.query.store import Store

LARGE = 1 << 30  # bytes of a store above which garbage is collected automatically
FIRST = 3_000_000  # the budget, in bytes, of a first build, which uses most values once


def open_database(path: str, *, budget: int, seals: bool, store: Store | None) -> Database:
    """The database at `path`. `budget`: bytes of memory for values, 0 for enough for one run; a first build has less.
    `seals`: whether a verified store is sealed; `store`: one to use in place of that at `path`."""
    from pipeline.query.database import Database
    from pipeline.stages.set import CODE
    from pipeline.store.sqlite import SqliteStore, size_of

    size = size_of(path)
    if size > LARGE and store is None:
        from pipeline.front.run.collect import is_root  # much code, rarely needed
        from pipeline.store.collect import collect

        collect(path, is_root)
    return Database(store or SqliteStore(path, seals=seals), find_query, budget if size else FIRST, warn, CODE)


def forget_rows(db: Database, forgotten: Forgotten, stages: Mapping[str, object]) -> None:
    """Drops the rows of tasks that `doit forget` named. `stages`: those of analysis."""
    named = units(db) if forgotten.about_units else {}
    tasks = {(family, unit.name): f"emit:{name}" for name, (family, unit) in named.items()}

    def wanted(name: tuple[Any, ...]) -> bool:
        module, _, query = str(name[0]).partition(":")
        if query == "text":
            return tasks.get(name[1:], "emit") in forgotten
        if query == "made" and f"shard:{name[-1]}" in forgotten:
            return True
        return module in stages and module in forgotten

    db.forget(wanted)
