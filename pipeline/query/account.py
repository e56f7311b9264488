"""What a round came to: problems, what changed and why, what nothing needs any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from pipeline.query.database import Database
from pipeline.query.query import Query, Table
from pipeline.query.row import ITEM, MISSING, NAMES, Name, Row, digest, identity, unpacked

Change = Literal["added", "changed", "deleted"]
Root = tuple[Any, ...]  # a query, and its key


def problems(db: Database, roots: Iterable[Root], type_: Any) -> list[Any]:
    """The problems of all rows that `roots` are made from, decoded as `type_`."""
    live = {identity((query.name, *args)): True for query, *args in roots}
    found = []
    for id_ in sorted(db.noisy):
        row = db.rows.numbered(id_)
        if row is not None and row.trace is not None and _is_live(db, row, live):
            found += [msgspec.msgpack.decode(problem, type=type_) for problem in row.trace.problems]
    return found


def _is_live(db: Database, row: Row, live: dict[int, bool]) -> bool:
    """Whether a root is made from a row: by way of the rows that read it."""
    known = live.get(row.id)
    if known is not None:
        return known
    live[row.id] = False
    if not row.fresh:
        return False
    items = db.rows.items(row) if isinstance(row.query, Table) else ()
    for id_ in (row.id, *(identity((ITEM, *row.name, item)) for item in items)):
        if any(_reads(db, reader, id_, live) for reader in db.rows.readers_of(id_)):
            live[row.id] = True
            return True
    return False


def _reads(db: Database, reader: int, id_: int, live: dict[int, bool]) -> bool:
    """Whether a row that a root is made from reads another one."""
    row = db.rows.numbered(reader)
    if row is None or row.trace is None or all(read != id_ for read, _ in unpacked(row.trace.reads)):
        return False
    return _is_live(db, row, live)


def reads_digest(db: Database, query: Query[Any, Any], *args: Any) -> bytes:
    """The digest of all that a row that holds has read."""
    row = db.rows.named((query.name, *args), query)
    return digest(row.trace.reads) if row.trace is not None else MISSING


def reads(db: Database, name: Name) -> list[Name]:
    """What a row read when it was made, by name."""
    row = db.rows.named(name)
    found = (db.rows.numbered(id_) for id_, _ in unpacked(row.trace.reads)) if row.trace is not None else ()
    return [read.name for read in found if read is not None]


def changes(db: Database, name: Name) -> list[Name] | None:
    """Why a row was replaced in this round: what it had read that gives something else now. None where it had never
    been made. Looks at nothing that nobody has asked for in this round."""
    row = db.rows.in_memory(name)
    if row is None or row.id not in db.before:
        return []
    before = db.before[row.id]
    if before is None:
        return None
    found = ((db.rows.numbered(id_), given) for id_, given in unpacked(before.reads))
    return [read.name for read, given in found if read is not None and read.fresh and read.digest != given]


def changed_items(db: Database, table: Table[Any, Any], *args: Any) -> dict[str, Change]:
    """The items that a table gives otherwise than before this round."""
    db.digest(table, *args)
    row = db.rows.named((table.name, *args), table)
    if row.id not in db.before:
        return {}
    before, after = db.before[row.id], db.rows.items(row)
    known = db.rows.items_of(before) if before is not None else {}
    found: dict[str, Change] = {}
    for item in (*after, *(item for item in known if item not in after)):
        if item != NAMES and (item not in known or item not in after or known[item].digest != after[item].digest):
            found[item] = "added" if item not in known else "changed" if item in after else "deleted"
    return found
