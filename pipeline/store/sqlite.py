"""The store on disk: an SQLite database of memos and readers, and a file of values next to it.

One policy for damage. Files whose stats agree with the seal, which the last commit left, are trusted as a whole. All
others (copied, restored from an archive, corrupted) are verified once: the structure of the database, the sum of the
checksums of everything in it, and all values. So nothing is corrupt, missing, or older than the rest. Anything wrong,
then or later, raises StoreDamaged, and the caller discards the store. Nothing damaged is ever extended or sealed.

A store may come from someone else, and a checksum does not prove who computed it. So the schema is compared with that
of a new store before any table is read, and until it is verified, SQLite stops after a number of steps: first a fixed
one, then one that its size allows. Afterwards each statement looks up keys in tables of known types.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import islice, repeat
from typing import Any

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from pipeline.io.files import (
    Stat,
    is_file,
    leave_files_only,
    make_way,
    move_file,
    new_file,
    open_file,
    put_file,
    read_file,
    stat_of,
)
from pipeline.query.memo import NAMES, Item, Memo, Row, StoreDamaged, decode, digest, encode
from pipeline.query.store import Changes, Readers, Snapshot
from pipeline.store.values import LARGEST, Place, Values, size_at

FORMAT = 14  # of all that is stored
_APPLICATION = int.from_bytes(b"grdm", "big")  # what a database is, in its header

# `reads`: a dependency's row and the hash of its item, and a row that has it. `places`: the first bytes of a value's
# digest, as an integer, and the value's place. `sum`: the checksum of the entry, which may be damaged after `begin`.
_TABLES = {
    "memos": "(key INTEGER PRIMARY KEY, data BLOB, sum INTEGER)",
    "past": "(key INTEGER PRIMARY KEY, data BLOB, sum INTEGER)",
    "state": "(key INTEGER PRIMARY KEY, data BLOB, sum INTEGER)",
    "reads": "(row INTEGER, item INTEGER, reader INTEGER, PRIMARY KEY (row, item, reader)) WITHOUT ROWID",
    "places": "(key INTEGER PRIMARY KEY, place INTEGER)",
}
_SEEDS = {table: number for number, table in enumerate(_TABLES)}  # of checksums
_SCHEMA = [("table", table, table, f"CREATE TABLE {table} {columns}") for table, columns in _TABLES.items()]
_ALL = (1 << 63) - 1
_PAGES = 2000  # that stay in memory: an edit reads and writes some all over the database
_AT_ONCE = 64  # keys that one statement looks up
_MANY = 10_000  # entries that are written at once
_SOME = ", ".join("?" * _AT_ONCE)

_NEXT_TO = ("-wal", "-shm")  # the ends of names of SQLite's own files
_VALUES = ".values"
_SEAL = ".seal"
_WAIT = 10.0  # seconds that another process may take to write

# What a store that is not verified may cost. Steps are those of SQLite's virtual machine.
_STEPS_TO_OPEN = 10_000  # until the schema is known
_STEPS_PER_BYTE = 10  # to verify it: a store of all families takes 0.3
_PERIOD = 1000  # steps between two looks at the rest
_LIMITS = {  # of a connection
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 22,  # bytes of an entry: the largest one of all families has 38,000
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1000,  # bytes of a statement, those of the schema included
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}

# What SQLite reports of a file that is in use or cannot be written; anything else it reports is damage.
_UNUSABLE = {getattr(sqlite3, f"SQLITE_{name}") for name in "BUSY CANTOPEN FULL IOERR NOMEM PERM READONLY".split()}
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}


class State(Struct, frozen=True, array_like=True):
    """The one entry that describes the rest."""

    sum: int  # of all checksums but its own
    snapshot: Snapshot


Seal = tuple[Stat | None, ...]  # of files that are known to be sound

_encode, _hash_of = msgspec.msgpack.Encoder().encode, xxh3_64_intdigest  # called for each entry of a store
memo_decoder = msgspec.msgpack.Decoder(Memo)
_past_decoder = msgspec.msgpack.Decoder(list[Memo])
_state_decoder = msgspec.msgpack.Decoder(State)
_seal_decoder = msgspec.msgpack.Decoder(Seal)


class SqliteStore:
    """A store at a path. A new database has no file until it is committed; one that cannot be written is in memory.
    `seals`: whether verified files are sealed before a commit, too."""

    def __init__(self, path: str, *, seals: bool = True) -> None:
        self.path = path
        self.problem = ""
        self.empty = True
        self._seals = seals
        self._new = ["", ""]  # where a new database and its values are written before they are moved to their place
        self._files = ExitStack()  # what is open:
        self._connection: sqlite3.Connection
        self._values: Values
        self._stats: Seal = ()  # of the files that this store reads
        self._sum = 0
        self._known: dict[int, Place] = {}  # of values that are likely to be read

    # ---- opening and closing

    def begin(self) -> tuple[Snapshot, bool]:
        """Opens a read transaction; creates the store if it cannot be read. StoreDamaged if its contents are wrong."""
        same = not self.empty and not self.problem and stats_of(self.path) == self._stats
        same = same and not self._connection.in_transaction  # else a revision was dropped
        try:
            if not same:
                self.close()
                self._open()
            if self.empty:
                return Snapshot(), False
            self._run("BEGIN")
            data, known = self._blob("state", 0), self._sum
            if data is None:
                raise StoreDamaged("its state is missing")
            state = decode(_state_decoder, data)
            self._sum = state.sum
            if not same or known != state.sum:
                self._check()
                self._limit(None)
                return state.snapshot, False
            return state.snapshot, True
        except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a path that is not text
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                raise StoreDamaged("to read it takes more work than its size explains") from None
            if not _is_unusable(error):
                raise StoreDamaged(str(error)) from None
            self._create()
        return Snapshot(), False

    def is_current(self) -> bool:
        """Whether the database file is the one that was opened."""
        return self.empty or stat_of(self.path) == self._stats[0]

    def discard(self) -> None:
        """Deletes the seal, and continues with a new, empty store."""
        with suppress(OSError):
            os.unlink(self.path + _SEAL)
        self._create()

    def set_aside(self) -> str:
        """Moves what is on the disk to the path that `set_aside_of` returns; that path, "" if it cannot be moved."""
        place = set_aside_of(self.path)
        try:
            _move((self.path, self.path + _VALUES), place)
        except OSError:
            return ""
        return place

    def close(self) -> None:
        """Closes both files, without a commit."""
        self._files.close()
        self._known, self.empty = {}, True
        for path in filter(None, self._new):
            with suppress(OSError):
                os.unlink(path)
        self._new = ["", ""]

    def _open(self) -> None:
        """Opens the files; a new store if there is none, or it is of another format."""
        self.problem = ""
        if not is_file(self.path):
            return self._create()
        self._stats = stats_of(self.path)
        if all(os.access(path, os.W_OK) for path in (self.path, os.path.dirname(self.path) or ".")):
            self._connect()
        else:
            self._connect_to_read()
        if self._run("PRAGMA user_version").fetchone() != (FORMAT,):
            return self._create()
        if self._run("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchmany(len(_SCHEMA) + 1) != _SCHEMA:
            raise StoreDamaged("its tables are not those of a store")
        pages, bytes_each = (self._run(f"PRAGMA page_{word}").fetchone()[0] for word in ("count", "size"))
        self._limit(_STEPS_PER_BYTE * pages * bytes_each)
        try:
            self._use_values()
        except OSError as error:
            raise StoreDamaged(f"its values cannot be read: {error.strerror}") from None
        self.empty = False
        return None

    def _use(self, connection: sqlite3.Connection) -> None:
        self._connection = self._files.enter_context(closing(connection))
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        self._limit(_STEPS_TO_OPEN)
        self._run("PRAGMA trusted_schema = OFF")

    def _limit(self, steps: int | None) -> None:
        """Lets the statements that follow take so many steps together; None: any number."""
        if steps is None:
            return self._connection.set_progress_handler(None, 0)
        left = iter(range(steps // _PERIOD))
        return self._connection.set_progress_handler(lambda: next(left, None) is None, _PERIOD)

    def _use_values(self) -> None:
        """Opens the values of the database."""
        path, flags = self.path + _VALUES, os.O_RDONLY if self.problem else os.O_RDWR | os.O_APPEND
        self._values = self._files.enter_context(closing(Values(path, open_file(path, flags), self._place)))

    def _connect(self) -> None:
        """Connects to the database."""
        for end in _NEXT_TO:
            leave_files_only(self.path + end)
        self._use(sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False))
        self._run("PRAGMA synchronous = OFF")  # the next line would wait for the disk
        self._run("PRAGMA journal_mode = WAL")
        self._run(f"PRAGMA cache_size = {_PAGES}")
        if not is_checkpointed(self.path):  # a process was killed
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        self._stats = stats_of(self.path)

    def _connect_to_read(self) -> None:
        """Connects to a database that cannot be written. SQLite neither writes next to it nor notices if it changes."""
        try:
            os.close(open_file(self.path, os.O_RDWR))
            self._report(PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.path.dirname(self.path)))
        except OSError as error:
            self._report(error)
        from urllib.parse import quote

        path = quote(os.fsencode(os.path.abspath(self.path)))
        self._use(sqlite3.connect(f"file:{path}?immutable=1", uri=True, isolation_level=None, check_same_thread=False))
        if not is_checkpointed(self.path):
            raise PermissionError(errno.EACCES, "it is being written", self.path)

    def _create(self) -> None:
        """Begins an empty database, which has no file yet."""
        self.close()
        self._stats = stats_of(self.path)
        self._sum, self.problem = 0, ""
        try:
            self._new[1], file = new_file(self.path + _VALUES)
        except (OSError, ValueError) as error:  # ValueError: a path that is not text
            self._report(error)
            file = os.open(os.devnull, os.O_RDONLY)
        self._values = self._files.enter_context(closing(Values(self._new[1], file, is_new=True)))

    # ---- damage

    def _check(self) -> None:
        """Trusts the files if their stats agree with the seal; else verifies the database, and seals the files."""
        if self._stats == seal_of(self.path) and is_checkpointed(self.path):
            return
        if self._run("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise StoreDamaged("its structure is corrupt")
        for table in _TABLES:
            if self._run(f"SELECT 1 FROM {table} WHERE {self._is_mistyped(table)} LIMIT 1").fetchone():  # noqa: S608
                raise StoreDamaged("an entry is of another type")  # SQLite stores values of any type in any column
        total = 0
        for table in ("reads", "places"):
            total += _sums(table, self._run(f"SELECT * FROM {table}"))  # noqa: S608
        for table in ("memos", "past"):
            for key, data, kept in self._run(f"SELECT * FROM {table}"):  # noqa: S608
                if kept != _sum(table, (key, data)):
                    raise StoreDamaged("a checksum is wrong")
                total += kept
        left = self._values.size
        for key, place in self._run("SELECT key, place FROM places"):
            left -= size_at(place)
            if left < 0 or size_at(place) > LARGEST:  # values do not overlap
                raise StoreDamaged("its values are larger than it is")
            if _key(digest(self._values.at(place))) != key:
                raise StoreDamaged("a value is missing, or older than the rest")
        if total & _ALL != self._sum:
            raise StoreDamaged("a part is missing, or older than the rest")
        if self._seals and stats_of(self.path) == self._stats:
            with suppress(OSError):
                _set_seal(self.path, self._stats)

    def _is_mistyped(self, table: str) -> str:
        """The condition that an entry of a table has a column of another type than that of the schema."""
        columns = self._run(f"PRAGMA table_info({table})").fetchall()
        return " OR ".join(f"typeof({name}) <> '{kind.lower()}'" for _, name, kind, *_ in columns)

    # ---- reading

    def memo(self, row: Row) -> Memo | None:
        """The memo of a row, None if it has none. StoreDamaged if its checksum is wrong."""
        data = None if self.empty else self._blob("memos", row)
        return None if data is None else decode(memo_decoder, data)

    def memos_of(self, rows: Collection[Row]) -> Iterator[tuple[Row, Memo]]:
        """The memos of many rows, each with its row; looks up the places of their values. StoreDamaged as in `memo`."""
        for some in _parts_of(rows):
            found = [(row, decode(memo_decoder, data)) for row, data in self._memos(f" WHERE key IN ({_SOME})", some)]
            keys = [_key(memo.digest) for _, memo in found if memo.value == b""]
            for part in _parts_of(keys):
                self._known.update(self._all(f"SELECT key, place FROM places WHERE key IN ({_SOME})", part))  # noqa: S608
            yield from found

    def past(self, row: Row) -> list[Memo]:
        """Former memos of a row. StoreDamaged if the checksum is wrong."""
        data = self._blob("past", row)
        return [] if data is None else decode(_past_decoder, data)

    def value(self, key: bytes) -> bytes:
        """The value with a digest. StoreDamaged if it is missing or has another digest."""
        return self._values.get(key)

    def readers(self, row: Row, item: Item) -> Iterable[Row]:
        """The rows with a memo that depends on an item, and any whose item has the same hash."""
        return self._column("SELECT reader FROM reads WHERE row = ? AND item = ?", row, hash_of_item(item))

    def all_readers(self, row: Row) -> Iterable[Row]:
        """The rows with a memo that depends on a row or any of its items."""
        return set(self._column("SELECT reader FROM reads WHERE row = ?", row))

    def rows(self) -> Iterable[Row]:
        """All rows with a memo."""
        return self._column("SELECT key FROM memos")

    def memos(self) -> Iterator[tuple[Row, bytes]]:
        """All memos, encoded, by row. StoreDamaged if a checksum is wrong."""
        return self._memos()

    def _memos(self, condition: str = "", values: Sequence[int] = ()) -> Iterator[tuple[Row, bytes]]:
        for row, data, kept in self._all(f"SELECT key, data, sum FROM memos{condition}", values):  # noqa: S608
            if _sum("memos", (row, data)) != kept:
                raise StoreDamaged("a checksum is wrong")
            yield row, data

    def reads(self) -> Iterator[tuple[int, int, int]]:
        """All dependencies, in order: the row, the hash of its item, the row that has it."""
        return self._all("SELECT row, item, reader FROM reads ORDER BY row, item, reader")

    def _all(self, statement: str, values: Sequence[int] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from () if self.empty else self._run(statement, values)
        except sqlite3.Error as error:
            raise StoreDamaged(str(error)) from None

    def release(self) -> None:
        """Ends the read transaction: later reads are of the state at that time, and other processes can write all."""
        if not self.empty and self._connection.in_transaction:
            self._run("ROLLBACK")

    def _place(self, value: bytes) -> Place | None:
        """Where a value is, if it was committed."""
        key = _key(value)
        if key not in self._known:
            return next(iter(self._column("SELECT place FROM places WHERE key = ?", key)), None)
        return self._known[key]

    def _column(self, statement: str, *values: int) -> list[int]:
        column = [number for (number,) in self._all(statement, values)]
        if self.problem and not self.is_current():
            raise StoreDamaged("it changes while it is read")
        return column

    def _blob(self, table: str, key: int) -> bytes | None:
        for data, kept in self._all(f"SELECT data, sum FROM {table} WHERE key = ?", (key,)):  # noqa: S608
            if _sum(table, (key, data)) != kept:
                raise StoreDamaged("a checksum is wrong")
            return bytes(data)
        return None

    def _run(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    # ---- writing

    def put(self, key: bytes, value: bytes) -> None:
        """Adds a value by its digest; it is in the file after the commit."""
        self._values.add(key, value)

    def commit(self, changes: Changes) -> bool:
        """Writes all changes or none. False if another process committed first, or for `problem`."""
        try:
            self._values.flush()
            if self.problem or self._values.problem is not None:
                raise self._values.problem or OSError
            if stat_of(self.path) != self._stats[0]:
                self.close()  # another process has committed
                return False
            if self.empty:
                self._begin_file()
            self._write(changes)
            self._run("COMMIT")
            self._finish()
            return True
        except (sqlite3.Error, OSError) as error:
            if not _is_unusable(error):
                raise StoreDamaged(str(error)) from None
            self._report(error)
            self.close()
            return False

    def _begin_file(self) -> None:
        """Begins a new database, in a file that is moved to its place after the commit."""
        self._new[0], file = new_file(self.path)
        os.close(file)
        self._use(sqlite3.connect(self._new[0], isolation_level=None, check_same_thread=False))
        self._limit(None)
        self._run("PRAGMA synchronous = OFF")
        self._run("PRAGMA journal_mode = OFF")
        self._run(f"PRAGMA user_version = {FORMAT}")
        self._run(f"PRAGMA application_id = {_APPLICATION}")
        for *_, statement in _SCHEMA:
            self._run(statement)
        self._run("BEGIN")

    def _write(self, changes: Changes) -> None:
        self._insert("reads", (read for read in _reads(changes.readers) if self.empty or self._is_new(read)))
        self._insert("places", sorted((_key(value), place) for value, place in self._values.placed.items()))
        self._replace("memos", changes.memos)
        self._replace("past", changes.past)
        state = encode(State(self._sum, changes.snapshot))
        self._run("INSERT OR REPLACE INTO state VALUES (0, ?, ?)", (state, _sum("state", (0, state))))

    def _is_new(self, read: tuple[int, int, int]) -> bool:
        known = self._run("SELECT 1 FROM reads WHERE row = ? AND item = ? AND reader = ?", read)
        return known.fetchone() is None

    def _insert(self, table: str, entries: Iterable[tuple[int, ...]]) -> None:
        """Inserts entries, and adds their checksums to the sum of all."""
        entries = iter(entries)
        while some := list(islice(entries, _MANY)):
            self._sum = self._sum + _sums(table, some) & _ALL
            values = ", ".join("?" * len(some[0]))
            self._connection.executemany(f"INSERT INTO {table} VALUES ({values})", some)  # noqa: S608

    def _replace(self, table: str, entries: Mapping[Row, object]) -> None:
        """Puts entries in the place of those with the same keys."""
        for key in () if self.empty else entries:
            for (kept,) in self._run(f"DELETE FROM {table} WHERE key = ? RETURNING sum", (key,)):  # noqa: S608
                self._sum = self._sum - kept & _ALL

        def summed() -> Iterator[tuple[int, bytes, int]]:
            for key in sorted(entries):
                data = encode(entries[key])
                kept = _sum(table, (key, data))
                self._sum = self._sum + kept & _ALL
                yield key, data, kept

        self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", summed())  # noqa: S608

    def _finish(self) -> None:
        """Puts what was committed in its place, and seals it."""
        if self.empty:
            self._put_in_place()
        else:
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        self._stats, self.empty, self._values.placed = stats_of(self.path), False, {}
        _set_seal(self.path, self._stats)

    def _put_in_place(self) -> None:
        """Moves new files to their place, and opens them there."""
        self._connection.close()
        _move(self._new, self.path)
        self.close()
        self._connect()
        self._limit(None)
        self._use_values()

    def _report(self, error: Exception) -> None:
        """Notes why nothing can be committed. Another process that writes is not a reason."""
        if not self.problem and getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            file = getattr(error, "filename", None)
            place = self.path if not file or file in self._new else file
            self.problem = f"{place}: {getattr(error, 'strerror', None) or error}"


def set_aside_of(path: str) -> str:
    """Where the store at a path is kept after it led to a bug."""
    return f"{path}.failed"


def files_of(path: str) -> list[str]:
    """The paths of all files of the store at a path: the database, the values, the seal, SQLite's own."""
    return [path + end for end in ("", _VALUES, _SEAL, *_NEXT_TO)]


def stats_of(path: str) -> Seal:
    """The stats of the files of the store at a path."""
    return stat_of(path), stat_of(path + _VALUES)


def size_of(path: str) -> int:
    """The bytes that the store at a path takes on the disk."""
    return sum(stat.size for stat in stats_of(path) if stat is not None)


def _move(new: Sequence[str], path: str) -> None:
    """Moves a database and its values to the place of a store. If only the values get there, the old database lacks its
    own, and the store is discarded."""
    for end in _NEXT_TO:  # of the database that is replaced
        make_way(path + end)
    for each, place in zip(reversed(new), (path + _VALUES, path)):
        move_file(each, place)


def is_store(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file, begins a database of gradmill's."""
    return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:72], "big") == _APPLICATION


def seal_of(path: str) -> Seal | None:
    """The seal of the store at a path, None if it cannot be read."""
    return seal_in(read_file(path + _SEAL) or b"")


def seal_in(data: bytes) -> Seal | None:
    """The seal in the bytes of its file, None if they are damaged."""
    try:
        return _seal_decoder.decode(data)
    except msgspec.MsgspecError:
        return None


def is_checkpointed(path: str) -> bool:
    """Whether the database has everything, and SQLite's log nothing."""
    stat = stat_of(path + _NEXT_TO[0])
    return stat is None or not stat.size


def _set_seal(path: str, seal: Seal) -> None:
    if is_checkpointed(path):  # else the next revision verifies the files
        put_file(path + _SEAL, encode(seal))


def _is_unusable(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    return not isinstance(error, sqlite3.Error) or (code & 0xFF in _UNUSABLE and code not in _UNREADABLE)


def _key(value: bytes) -> int:
    """A digest as an integer."""
    return int.from_bytes(value[:8], "big", signed=True)


def _parts_of(keys: Collection[int]) -> Iterator[list[int]]:
    """Keys, in parts of the same size: the last one repeats some."""
    listed = sorted(keys)
    for start in range(0, len(listed), _AT_ONCE):
        part = listed[start : start + _AT_ONCE]
        yield part + part[:1] * (_AT_ONCE - len(part))


def _reads(readers: Readers) -> Iterator[tuple[int, int, int]]:
    """The entries of their table, in order: all at once would take the memory of a tenth of a first build."""
    for row in sorted(readers.rows()):
        yield from sorted({(row, hash_of_item(item), reader) for item, reader in readers.of(row)})


def hash_of_item(item: Item) -> int:
    """An item as an integer. Two that share one cost a needless look at a row."""
    return 0 if item is None else 1 if item is NAMES else _key(xxh3_64_digest(str(item).encode()))


def _sum(table: str, entry: tuple[object, ...]) -> int:
    """The checksum of an entry of a table, without the column that has it."""
    return _hash_of(_encode(entry), _SEEDS[table]) & _ALL


def _sums(table: str, entries: Iterable[tuple[object, ...]]) -> int:
    """The sum of their checksums. A first run on a restored store spends a tenth of its time here."""
    seed = _SEEDS[table]
    return sum(map(_hash_of, map(_encode, entries), repeat(seed))) & _ALL
