"""What was replaced since the store was read, and why; what a call depends on."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from gradmill.query.database import Database
from gradmill.query.engine import retried
from gradmill.query.memo import ITEM, MISSING, Dep, Name, decode
from gradmill.query.query import Query, Table

V = TypeVar("V")
Change = Literal["added", "changed", "deleted"]


@retried
def replaced(db: Database, query: Query[Any, Any]) -> list[Name]:
    """The calls of a query whose memo was replaced."""
    names = [call.name for row in db.replaced if (call := db.by_row(row)) is not None]
    return [name for name in names if name[0] == query.name]


@retried
def changes(db: Database, name: Name) -> list[Name] | None:
    """Why a call was replaced: the dependencies that have other digests now. None if it was never
    called before. Verifies nothing."""
    call = db.by_name(name)
    if call is None or call.row not in db.replaced:
        return []
    before = db.replaced[call.row]
    if before is None:
        return None
    changed = (dep for dep in before.deps if db.known_digest(dep) not in (None, dep.digest))
    return [name for dep in changed for name in _names(db, dep)]


@retried
def reads(db: Database, name: Name) -> list[Name]:
    """What a call depended on when it ran, by name."""
    call = db.by_name(name)
    if call is None or call.memo is None:
        return []
    present = (dep for dep in call.memo.deps if dep.item is None or dep.digest != MISSING)
    return [name for dep in present for name in _names(db, dep)]


def _names(db: Database, dep: Dep) -> list[Name]:
    """The name of a dependency, if it still has one."""
    call = db.by_row(dep.row)
    if call is None:
        return []
    return [call.name] if dep.item is None else [(ITEM, *call.name, dep.item)]


@retried
def changed_items(db: Database, table: Table[Any, Any], *args: Any) -> dict[str, Change]:
    """The items of a table that were added, changed or deleted."""
    db.digest(table, *args)
    call = db.call(table, args)
    if call.row not in db.replaced:
        return {}
    memo, after = db.replaced[call.row], db.items(call)
    if memo is None:
        return dict.fromkeys(after.names(), "added")
    before = db.items_of(memo)
    digests = before.changed(after)
    names = [*after.names(), *(item for item, digest in digests.items() if digest == MISSING)]
    return {
        str(name): "deleted" if digests[name] == MISSING else "changed" if before.get(str(name)) else "added"
        for name in names
        if name in digests
    }


@retried
def item_before(db: Database, table: Table[Any, V], *args: Any) -> V | None:
    """An item of a table, named by the last of `args`, as it was before this revision; None if it was absent."""
    call = db.call(table, args[:-1])
    memo = db.replaced.get(call.row, call.memo)
    item = None if memo is None else db.items_of(memo).get(args[-1])
    return None if item is None else decode(table.item_decoder, item.value)
