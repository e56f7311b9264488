"""The store on disk: one SQLite file.

An entry has the memo of a call, its former memos and its readers, and one checksum of all three; values stand under
their digests. The state has the sum of all checksums: no entry is missing, or older than the rest. A file with the stat
that the last run noted is trusted. Any other one (copied, restored, damaged, left by a killed run) is verified first:
its structure, and that sum. Anything wrong, then or later, raises StoreDamaged, and the caller discards the store.
Nothing damaged is ever extended.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from gradmill.io.files import Stat, is_file, leave_files_only, make_way, move_file, new_file, open_file, stat_of
from gradmill.query.memo import Item, Memo, Row, StoreDamaged, decode, digest, encode
from gradmill.query.store import Changes, Snapshot, Store

FORMAT = 15  # of all that is stored
_APPLICATION = int.from_bytes(b"grdm", "big")  # what a database is, in its header
_TABLES = (
    "calls (key INTEGER PRIMARY KEY, memo BLOB, past BLOB, readers BLOB, sum INTEGER)",
    "contents (key INTEGER PRIMARY KEY, data BLOB)",  # values, by the first bytes of their digests
    "state (key INTEGER PRIMARY KEY, data BLOB, sum INTEGER)",
)
_ALL = (1 << 63) - 1
_PAGE = 16384  # bytes: most values are larger than the usual 4,096
_CACHE = 500  # kilobytes that stay in memory: an edit reads most pages once, and fresh memory takes time
_AT_ONCE = 64  # keys that one statement looks up
_SOME = ", ".join("?" * _AT_ONCE)
_HELD = 2_000_000  # bytes of values that are written at once
_GROWTH = 4  # a store that is so many times as large as at first has mostly former results
_NEXT_TO = ("-wal", "-shm")  # the ends of names of SQLite's own files
_WAIT = 10.0  # seconds that another process may take to write

# What SQLite reports of a file that is in use or cannot be written; anything else it reports is damage.
_UNUSABLE = {getattr(sqlite3, f"SQLITE_{name}") for name in "BUSY CANTOPEN FULL IOERR NOMEM PERM READONLY".split()}
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}


class State(Struct, frozen=True, array_like=True):
    """The one entry that describes the rest."""

    sum: int  # of all checksums but its own
    size: int  # of the file at first: after the last commit that added a lot
    snapshot: Snapshot


class Entry(Struct, frozen=True, array_like=True):
    """What is stored of a call or an input, encoded."""

    memo: bytes = b""  # none
    past: bytes = b""
    readers: bytes = b""


_NOTHING = Entry()
ReadersByItem = dict[Item, list[Row]]

_hash_of = xxh3_64_intdigest
_state_decoder = msgspec.msgpack.Decoder(State)
_past_decoder = msgspec.msgpack.Decoder(list[Memo])
_memo_decoder = msgspec.msgpack.Decoder(Memo)
_readers_decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(dict[str | bool | None, list[int]])


class SqliteStore(Store):
    """Memos, readers and values in one file. `noted`: the stat of a file that is known to be sound. `writes`: whether
    values may be written before a commit."""

    def __init__(self, path: str, noted: Stat | None = None, *, writes: bool = True) -> None:
        self.path = path
        self.problem = ""
        self.empty = True  # whether there is nothing to read but what was put
        self._noted = noted
        self._writes = writes
        self._new = ""  # the path of a file that a commit moves to its place
        self._failed: Exception | None = None  # why values were not written: a commit reports it
        self._stat: Stat | None = None  # of the file as it was opened
        self._sum = self._size = 0
        self._connection: sqlite3.Connection | None = None
        self._read: dict[Row, Entry] = {}  # what was read in this transaction
        self._held: dict[bytes, bytes] = {}  # values that are not in the file, by digest
        self._held_size = 0

    # ---- opening and closing

    def begin(self) -> tuple[Snapshot, bool]:
        same = not self.empty and not self.problem and stat_of(self.path) == self._stat and not self._in_transaction
        try:
            if not same:
                self.close()
                self._open()
            if self.empty:
                return Snapshot(), False
            self._run("BEGIN")
            self._read = {}
            known, state = self._sum, self._state()
            self._sum, self._size = state.sum, state.size
            if same and known == state.sum:
                return state.snapshot, True
            self._verify()
            return state.snapshot, False
        except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a path that is not text
            if not _is_unusable(error):
                raise StoreDamaged(str(error)) from None
            self._create()
        return Snapshot(), False

    @property
    def _in_transaction(self) -> bool:
        """Whether a revision was dropped without a commit."""
        return self._connection is not None and self._connection.in_transaction

    def is_current(self) -> bool:
        return self.empty or stat_of(self.path) == self._stat

    @property
    def is_overgrown(self) -> bool:
        return self._stat is not None and self._stat.size > _GROWTH * self._size and not self.empty and self._writes

    def discard(self) -> None:
        """Continues with a new, empty store; in memory alone if nothing can be written. A later run verifies the one on
        the disk, if it is still there."""
        if not self.problem and self._failed is None:
            with suppress(OSError, ValueError):
                os.utime(self.path)
        self._create()

    def set_aside(self) -> str:
        place = set_aside_of(self.path)
        try:
            _move(self.path, place)
        except OSError:
            return ""
        return place

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self.empty = None, True
        self._read, self._held, self._held_size = {}, {}, 0
        if self._new:
            with suppress(OSError):
                os.unlink(self._new)
            self._new = ""

    def _open(self) -> None:
        """Opens the file; a new store if there is none, or it is of another format."""
        self.problem, self._failed = "", None
        if not is_file(self.path):
            return self._create()
        self._stat = stat_of(self.path)
        if all(os.access(path, os.W_OK) for path in (self.path, os.path.dirname(self.path) or ".")):
            self._connect()
        else:
            self._connect_to_read()
        if self._run("PRAGMA user_version").fetchone() != (FORMAT,):
            return self._create()
        self.empty = False
        return None

    def _connect(self) -> None:
        for end in _NEXT_TO:
            leave_files_only(self.path + end)
        self._connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        self._run("PRAGMA synchronous = OFF")  # the next line would wait for the disk
        self._run("PRAGMA journal_mode = WAL")
        self._run("PRAGMA wal_autocheckpoint = 0")  # values in the log leave the file as it was opened
        self._run(f"PRAGMA cache_size = -{_CACHE}")
        if not is_checkpointed(self.path):  # a process was killed
            self._checkpoint()
        self._stat = stat_of(self.path)

    def _connect_to_read(self) -> None:
        """Connects to a database that cannot be written. SQLite neither writes next to it nor notices if it changes."""
        try:
            os.close(open_file(self.path, os.O_RDWR))
            self._report(PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.path.dirname(self.path)))
        except OSError as error:
            self._report(error)
        from pathlib import Path

        name = f"{Path(self.path).absolute().as_uri()}?immutable=1"
        self._connection = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)
        if not is_checkpointed(self.path):
            raise PermissionError(errno.EACCES, "it is being written", self.path)

    def _create(self) -> None:
        """Begins an empty store, whose file is not at its place yet."""
        self.close()
        self._stat, self._sum, self._size = stat_of(self.path), 0, 0
        if self._writes and not self.problem and self._failed is None:
            try:
                self._begin_file()
            except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a path that is not text
                if _is_full(error):
                    self._failed = error
                else:
                    self._report(error)
                self.close()

    def _state(self) -> State:
        for data, kept in self._run("SELECT data, sum FROM state WHERE key = 0"):
            if _hash_of(encode(data)) & _ALL == kept:
                return decode(_state_decoder, data)
        raise StoreDamaged("its state is missing")

    def _verify(self) -> None:
        """Trusts the file if it has the noted stat; else verifies its structure and all entries but values, whose
        digests are compared when they are read."""
        if self._stat == self._noted and is_checkpointed(self.path):
            return
        if self._run("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise StoreDamaged("its structure is corrupt")  # a search may not find what is there
        for _ in self.entries():
            pass

    # ---- reading

    def memo(self, row: Row) -> Memo | None:
        memo = self._entry(row).memo
        return decode(_memo_decoder, memo) if memo else None

    def memos_of(self, rows: Collection[Row]) -> Iterator[tuple[Row, Memo]]:
        listed = sorted(rows)
        for start in range(0, len(listed), _AT_ONCE):
            some = listed[start : start + _AT_ONCE]
            some += some[:1] * (_AT_ONCE - len(some))
            found = dict(self._entries(f" WHERE key IN ({_SOME})", some))
            self._read |= found
            yield from ((row, decode(_memo_decoder, entry.memo)) for row, entry in found.items() if entry.memo)

    def past(self, row: Row) -> list[Memo]:
        past = self._entry(row).past
        return decode(_past_decoder, past) if past else []

    def readers(self, row: Row) -> ReadersByItem:
        return _readers_in(self._entry(row))

    def entries(self) -> Iterator[tuple[Row, Entry]]:
        """All that is stored but values. StoreDamaged, at the end, if something is missing or older than the rest."""
        total = 0
        for row, entry in self._entries():
            total += _sum(row, entry)
            yield row, entry
        if total & _ALL != self._sum:
            raise StoreDamaged("a part is missing, or older than the rest")

    def value(self, key: bytes) -> bytes:
        value = self._held.get(key)
        if value is None:
            found = self._all("SELECT data FROM contents WHERE key = ?", (_key(key),)) if self._connection else ()
            value = next((data for (data,) in found), None)
            if not isinstance(value, bytes) or digest(value) != key:
                raise StoreDamaged("a value is missing, or older than the rest")
        return value

    def release(self) -> None:
        """Ends the read transaction: later reads are of the state at that time, and other processes can write all."""
        if self._in_transaction:
            self._run("ROLLBACK")

    def _entry(self, row: Row) -> Entry:
        if row not in self._read:
            self._read.update(self._entries(" WHERE key = ?", (row,)))
        return self._read.get(row, _NOTHING)

    def _entries(self, condition: str = "", values: Sequence[int] = ()) -> Iterator[tuple[Row, Entry]]:
        statement = f"SELECT key, memo, past, readers, sum FROM calls{condition}"  # noqa: S608
        found = [] if self.empty else self._all(statement, values)
        if self.problem and not self.is_current():
            raise StoreDamaged("it changes while it is read")
        for row, memo, past, readers, kept in found:
            entry = Entry(memo, past, readers)
            if _sum(row, entry) != kept:
                raise StoreDamaged("a checksum is wrong")
            yield row, entry

    def _all(self, statement: str, values: Sequence[int] = ()) -> list[Any]:
        try:
            return self._run(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreDamaged(str(error)) from None

    def _run(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        assert self._connection is not None
        return self._connection.execute(statement, values)

    # ---- writing

    def put(self, key: bytes, value: bytes) -> None:
        if key not in self._held:
            self._held[key] = value
            self._held_size += len(value)
            # Many are written before the commit: no entry depends on their number.
            can_write = not self.problem and self._failed is None and (self.empty or self._writes)
            if self._held_size > _HELD and can_write:
                self._flush()

    def _flush(self) -> None:
        """Writes values; keeps them in memory if that is not possible."""
        try:
            if not self._connection:
                self._begin_file()
            self.release()
            self._run("BEGIN IMMEDIATE")
            self._write_values()
            self._run("COMMIT")
            self._held, self._held_size = {}, 0
        except (sqlite3.Error, OSError, ValueError) as error:
            self._give_up(error)
        if not self.empty:
            self._run("BEGIN")
            if self._state().sum != self._sum:
                raise StoreDamaged("it changes while it is read")

    def commit(self, changes: Changes) -> bool:
        if self._failed is not None:
            self._report(self._failed)
        if self.problem:
            return False
        try:
            if stat_of(self.path) != self._stat:
                self.close()  # another process has committed
                return False
            if not self._connection:
                self._begin_file()
            if not self._in_transaction:
                self._run("BEGIN")
            self._write_values()
            self._write(changes)
            self._run("COMMIT")
            self._finish()
            return True
        except (sqlite3.Error, OSError, ValueError) as error:
            if not _is_unusable(error):
                raise StoreDamaged(str(error)) from None
            self._report(error)
            self.close()
            return False

    def _begin_file(self) -> None:
        """Begins a new database, in a file that is moved to its place after the commit."""
        self._new, file = new_file(self.path)
        os.close(file)
        self._connection = sqlite3.connect(self._new, isolation_level=None, check_same_thread=False)
        self._run(f"PRAGMA page_size = {_PAGE}")
        self._run("PRAGMA synchronous = OFF")
        self._run("PRAGMA journal_mode = MEMORY")  # a write that fails loses nothing that was written before
        self._run(f"PRAGMA user_version = {FORMAT}")
        self._run(f"PRAGMA application_id = {_APPLICATION}")
        for table in _TABLES:
            self._run(f"CREATE TABLE {table}")

    def _write_values(self) -> None:
        assert self._connection is not None
        values = sorted((_key(key), value) for key, value in self._held.items())
        self._connection.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?)", values)

    def _write(self, changes: Changes) -> None:
        assert self._connection is not None
        self._connection.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?)", self._changed(changes))
        size = max(self._run("PRAGMA page_count").fetchone()[0] * self._run("PRAGMA page_size").fetchone()[0], 1)
        before = 0 if self.empty or self._stat is None else self._stat.size
        self._size = size if size > 3 * before // 2 else self._size
        state = encode(State(self._sum, self._size, changes.snapshot))
        self._run("INSERT OR REPLACE INTO state VALUES (0, ?, ?)", (state, _hash_of(encode(state)) & _ALL))

    def _changed(self, changes: Changes) -> Iterator[tuple[Any, ...]]:
        """The entries that differ from those in the file; changes the sum of all checksums with them."""
        for row in sorted({*changes.memos, *changes.past, *changes.readers.rows()}):
            before = self._entry(row)
            memo, past, readers = changes.memos.get(row), changes.past.get(row), changes.readers.of(row)
            after = Entry(
                before.memo if memo is None else encode(memo),
                before.past if past is None else encode(past),
                _with_readers(before, readers),
            )
            if after != before:
                kept = _sum(row, after)
                self._sum = self._sum + kept - (_sum(row, before) if before != Entry() else 0) & _ALL
                yield row, after.memo, after.past, after.readers, kept

    def _finish(self) -> None:
        """Puts what was committed in its place."""
        if self._new:
            self.release()
            assert self._connection is not None
            self._connection.close()
            _move(self._new, self.path)
            self._new = ""
            self.close()
            self._connect()
        else:
            self._checkpoint()
        self._read, self._held, self._held_size, self._failed = {}, {}, 0, None
        self._stat, self.empty = stat_of(self.path), False

    def _checkpoint(self) -> None:
        """Moves what is in SQLite's log into the database, unless another process reads it: no run waits for that."""
        self._run("PRAGMA busy_timeout = 0")
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        self._run(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")

    def _give_up(self, error: Exception) -> None:
        """Goes on in memory, without a file that cannot be written."""
        self._failed = error
        self.release()
        if self._new:
            for (value,) in self._all("SELECT data FROM contents"):
                self._held[digest(value)] = value
            held, size = self._held, self._held_size
            self.close()
            self._held, self._held_size = held, size

    def _report(self, error: Exception) -> None:
        """Notes why nothing can be committed. Another process that writes is not a reason."""
        if not self.problem and getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            file = getattr(error, "filename", None)
            place = self.path if not file or file == self._new else file
            self.problem = f"{place}: {getattr(error, 'strerror', None) or error}"


def _is_full(error: Exception) -> bool:
    """Whether the disk has no space left."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)


def set_aside_of(path: str) -> str:
    """Where the store at a path is kept after it led to a bug."""
    return f"{path}.failed"


def files_of(path: str) -> list[str]:
    """The paths of all files of the store at a path: the database, and SQLite's own."""
    return [path + end for end in ("", *_NEXT_TO)]


def _move(new: str, path: str) -> None:
    """Moves a database to the place of a store."""
    for end in _NEXT_TO:  # of the database that is replaced
        make_way(path + end)
    move_file(new, path)


def is_store(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file, begins a database of gradmill's."""
    return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:72], "big") == _APPLICATION


def is_checkpointed(path: str) -> bool:
    """Whether the database has everything, and SQLite's log nothing."""
    stat = stat_of(path + _NEXT_TO[0])
    return stat is None or not stat.size


def _readers_in(entry: Entry) -> ReadersByItem:
    """The readers in an entry, by item."""
    return decode(_readers_decoder, entry.readers) if entry.readers else {}


def _with_readers(entry: Entry, more: Iterable[tuple[Item, Row]]) -> bytes:
    """The readers of an entry, and more."""
    known: dict[Item, set[Row]] = {item: set(rows) for item, rows in _readers_in(entry).items()}
    for item, reader in more:
        known.setdefault(item, set()).add(reader)
    return encode({item: sorted(rows) for item, rows in known.items()}) if known else b""


def _is_unusable(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    return not isinstance(error, sqlite3.Error) or (code & 0xFF in _UNUSABLE and code not in _UNREADABLE)


def _key(value: bytes) -> int:
    """A digest as an integer."""
    return int.from_bytes(value[:8], "big", signed=True)


def _sum(row: Row, entry: Entry) -> int:
    """The checksum of an entry."""
    return _hash_of(encode((row, entry.memo, entry.past, entry.readers))) & _ALL
