"""Databases of stores that someone has after_script, and archives: what tests of imports and of downloads refuse."""

from __future__ import annotations

import io
import signal
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

SECONDS = 30  # more than a refusal takes on a busy machine, and less than what does not end


@contextmanager
def ending() -> Iterator[None]:
    """TimeoutError if something does not end."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_WITHOUT_END = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT"
_SCHEMA = "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema"

OTHER_TABLES = "its tables are not those of a store"
_TOO_MUCH = f"({OTHER_TABLES}|to read it takes more work than its size explains|string or blob too big)"

# A script for the database of a store, and why the result is damaged.
SCRIPTS: dict[str, tuple[str, str]] = {
    "readers without end": (
        f"DROP TABLE reads; CREATE VIEW reads AS {_WITHOUT_END} n AS row, 1 AS item, 1 AS reader FROM x",
        OTHER_TABLES,
    ),
    "a state without end": (
        f"DROP TABLE state; CREATE VIEW state AS {_WITHOUT_END} 0 AS key, x'' AS data, 1 AS sum FROM x WHERE n < 0",
        OTHER_TABLES,
    ),
    "a trigger": (
        f"CREATE TRIGGER t AFTER INSERT ON memos BEGIN INSERT INTO past {_WITHOUT_END} n, x'', 1 FROM x; END",
        OTHER_TABLES,
    ),
    "an index of an expression": ("CREATE INDEX i ON memos (length(hex(data)))", OTHER_TABLES),
    "a generated column": ("ALTER TABLE memos ADD COLUMN more AS (hex(data))", OTHER_TABLES),
    "a virtual table": (
        f"{_SCHEMA} VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING fts5(x)')",
        OTHER_TABLES,
    ),
    "statistics": ("ANALYZE", OTHER_TABLES),
    "a table less": ("DROP TABLE past", OTHER_TABLES),
    "another order of keys": (
        "DROP TABLE places; CREATE TABLE places (key INTEGER PRIMARY KEY DESC, place INTEGER)",
        OTHER_TABLES,
    ),
    "100,000 tables": (
        f"{_SCHEMA} {_WITHOUT_END} 'table', 't' || n, 't' || n, 0, 'CREATE VIRTUAL TABLE t' || n || ' USING fts5(x)'"
        " FROM x LIMIT 100000",
        _TOO_MUCH,
    ),
    "a statement of 10 MB": (
        f"{_SCHEMA} VALUES ('table', 'v', 'v', 0, 'CREATE TABLE v (x' || hex(zeroblob(5000000)) || ')')",
        _TOO_MUCH,
    ),
    "an entry of 10 MB": (
        "UPDATE memos SET data = zeroblob(10000000) WHERE key = (SELECT min(key) FROM memos)",
        _TOO_MUCH,
    ),
    "readers that are text": ("UPDATE reads SET reader = 'x' || reader", "an entry is of another type"),
    "a place that is text": ("UPDATE places SET place = 'x'", "an entry is of another type"),
    "a memo that is text": ("UPDATE memos SET data = 'x'", "an entry is of another type"),
    "a value of 4 GB": ("UPDATE places SET place = place | 4294967295", "its values are larger than it is"),
    "a value from before the file": ("UPDATE places SET place = -1 << 32", "a value cannot be read: .*"),
}


def after_script(database: bytes, script: str) -> bytes:
    """A database after a script."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(database[:18] + b"\1\1" + database[20:])  # one in memory has no WAL
        connection.executescript(script)
        return connection.serialize()


def _directory(count: int, more: bytes = b"") -> bytes:
    """So many entries of a central directory."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, *[0] * 8, 1, len(more), *[0] * 5)
    return (entry + b"a" + more) * count


def _ended(data: bytes, directory: bytes, count: int) -> bytes:
    """An archive with that directory."""
    return data + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), len(data), 0)


def _zip64(directory: bytes, count: int) -> bytes:
    """An archive of that directory, whose size only the records of ZIP64 have."""
    size = len(directory)
    records = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, 0)
    records += struct.pack("<4sLQL", b"PK\6\7", 0, size, 1)
    return directory + records + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)


def large_directory(count: int) -> bytes:
    """An archive of nothing but a directory with so many entries."""
    return _zip64(_directory(count), count)


def _with_members(archive: bytes, **change: object) -> bytes:
    """The same members, the first of them as many times, and compressed as `change` says."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(file, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, old.read(member), **change)  # type: ignore[arg-type]
    return file.getvalue()


NO_ARCHIVE = "(it is damaged: .*|it has other members than an archive of a store)"
_COUNT = 300_000

# What is done to an archive, and why the result is refused.
ARCHIVES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a large directory": (lambda archive: _ended(b"", _directory(_COUNT), 3), NO_ARCHIVE),
    "many entries": (lambda archive: _ended(b"", _directory(_COUNT), 0xFFFF), NO_ARCHIVE),
    "entries of 64 KB": (lambda archive: _ended(b"", _directory(3, bytes(65_000)), 3), NO_ARCHIVE),
    "ZIP64": (lambda archive: _zip64(_directory(_COUNT), _COUNT), NO_ARCHIVE),
    "an end in the comment": (lambda archive: archive[:-2] + b"\x16\0" + archive[-22:], NO_ARCHIVE),
    "lzma": (
        lambda archive: _with_members(archive, compress_type=zipfile.ZIP_LZMA),
        "it is compressed in an unknown way",
    ),
}
