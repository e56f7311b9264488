"""The store: rows in one SQLite file, which is replaced or changed at once or not at all; values in one beside it.

One policy for damage. Files that are as the seal says, which the last commit left, are trusted as a whole. All others,
copied, restored or altered, are verified once, as a whole: the checksum of each blob, the sum of all checksums, each
value by its digest. Whatever is wrong, then or whenever anything is read, is `StoreDamaged`: whoever asked starts
again on an empty store. So nothing that is damaged is ever extended, or sealed.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_digest

from pipeline.io.files import Stat, is_file, leave_files_only, make_way, move_file, overwrite_file, read_file, stat_of
from pipeline.query.row import ID, Record, Trace, digest, encode, places
from pipeline.query.values import Place, StoreDamaged, Values

FORMAT = 10  # of all that is stored
SMALL = 96  # bytes of a value that stands in its row

ROWS, OLDER, PAIRS, NOTES = _TABLES = ("rows", "older", "pairs", "notes")  # each of blobs by number
_SELECT = {table: f"SELECT data FROM {table} WHERE id = ?" for table in _TABLES}  # noqa: S608
_SELECT_ALL = {table: f"SELECT id, data FROM {table}" for table in _TABLES}  # noqa: S608
_REPLACE = {table: f"INSERT OR REPLACE INTO {table} VALUES (?, ?)" for table in _TABLES}  # noqa: S608
READERS, PLACES = 0, 256  # where pairs of a kind begin, in a blob each by how the first ends: see `add_pairs`
_SUM = "sum"  # the note of all checksums but its own, added up: so nothing is missing, or older than the rest
_MEMORY = ":memory:"
_BESIDE = ("-wal", "-shm")  # files that SQLite has beside a database
_VALUES = ".values"  # what the name of the file with values ends with
_LOAD = "deserialize"  # a method that SQLite may have been built without
_JOURNAL = slice(18, 20)  # where a database says how it is written
_PAGE = 4096  # bytes; where a file cannot have so many, there can be no database
_WAIT = 10.0  # seconds that another process may take to write
_ALL = (1 << 64) - 1

# What SQLite says of a file that is in use or cannot be written to; all else that it says is damage. It writes beside
# a file that is only read: what it cannot read there is damage, what it cannot write is none.
_UNUSABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}

T = TypeVar("T")

_record_decoder = msgspec.msgpack.Decoder(Record)
_traces_decoder = msgspec.msgpack.Decoder(list[Trace])


class Seal(Struct, frozen=True, array_like=True):
    """A state of a store's files that is known to be whole."""

    sum: int  # of the checksums
    stats: tuple[Stat | None, ...]


_seal_decoder = msgspec.msgpack.Decoder(Seal)


class Store:
    """One file. A file that is not there yet is built beside its place, and put there by the first commit. `seals`:
    whether files that were verified are sealed before that, too."""

    def __init__(self, path: str, *, seals: bool = True) -> None:
        self.path = path
        self._seals = seals
        self.empty = True
        self.problem = ""  # why nothing can be kept
        self._building = ""  # what the names of new files end with, until they are committed
        self._connection: sqlite3.Connection | None = None
        self._stats: tuple[Stat | None, ...] = ()  # of the files, when this store began to read them or wrote them
        self._sum = 0
        self._pairs: dict[int, bytes] = {}  # as far as they were asked for
        self.values = Values(None, self._place)

    @property
    def paths(self) -> tuple[str, str]:
        """The files: rows, values."""
        return self.path, self.path + _VALUES

    # ---- opening and closing

    def begin(self) -> bool:
        """Starts to read one state of the files. False where it is not the state that this store left them in.
        StoreDamaged where they are not whole."""
        open_ = self._connection is not None and not self._connection.in_transaction  # else a round was not kept
        same = open_ and not self._building and stats_of(self.path) == self._stats
        self._pairs = {}
        try:
            if not same:
                self.close()
                self._open()
            self._run("BEGIN")
            if not self.empty:
                known, self._sum = self._sum, int.from_bytes(self.note(_SUM), "big")
                same = same and known == self._sum
                if not same:
                    self._check()
        except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a name that is no text
            if not _is_unusable(error):
                raise StoreDamaged(str(error)) from None
            self._create()
            self._run("BEGIN")
        return same

    def begin_anew(self) -> None:
        """Starts on an empty store, which takes the place of the old one when it is committed: that one counts as
        damaged from now on."""
        with suppress(OSError):
            os.unlink(f"{self.path}.seal")
        self._create()
        self._run("BEGIN")

    def _open(self) -> None:
        """Opens the file; a new one where there is none, or one of another format."""
        if not is_file(self.path):
            self._create()
            return
        if not all(os.access(path, os.W_OK) for path in (self.path, os.path.dirname(self.path) or ".")):
            self._load()
            return
        for end in _BESIDE:
            leave_files_only(self.path + end)
        self._connect()
        if self._run("PRAGMA user_version").fetchone() != (FORMAT,):
            self._create()
            return
        if not is_checkpointed(self.path):  # a process was killed in between
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        self._stats, self.empty = stats_of(self.path), False
        self._open_values()

    def _open_values(self, *, keeps: bool = True) -> None:
        try:
            self.values = Values(self.paths[1], self._place, keeps=keeps)
        except OSError as error:
            raise StoreDamaged(f"its values cannot be read: {error.strerror}") from None

    def _load(self) -> None:
        """Reads rows into memory that cannot be written to: where they are, SQLite would write beside them."""
        stats, data = stats_of(self.path), read_file(self.path) or b""
        if stats != stats_of(self.path) or not is_checkpointed(self.path) or not hasattr(sqlite3.Connection, _LOAD):
            self._create()
            return
        self._building, self._stats = _MEMORY, stats
        self._connection = sqlite3.connect(_MEMORY, isolation_level=None)
        self._connection.deserialize(data[: _JOURNAL.start] + b"\1\1" + data[_JOURNAL.stop :])  # 1: in no WAL mode
        if self._run("PRAGMA user_version").fetchone() != (FORMAT,):
            self._create()
            return
        self.empty = False
        self._open_values(keeps=False)
        try:
            os.close(os.open(self.path, os.O_RDWR))
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.path.dirname(self.path))
        except OSError as error:  # the system says why
            self._why(error)

    def _connect(self) -> None:
        self._connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
        self._run("PRAGMA synchronous = OFF")  # first of all: the next line would wait for the disk
        self._run("PRAGMA journal_mode = WAL")

    def _create(self) -> None:
        """A new file under a name of this process's own; in memory where none can be written."""
        self.close()
        self._building = f".{os.getpid()}.tmp"
        self._stats = stats_of(self.path)
        path = self.path + self._building
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            with open(path, "wb") as file:  # the system says why it cannot be; SQLite would not
                file.write(bytes(_PAGE))
                file.truncate(0)
            self.values = Values(self.paths[1] + self._building, self._place, anew=True)
            self._make(path)
            self.problem = ""
        except (OSError, ValueError, sqlite3.Error) as error:
            self._why(error)
            self.close()
            self._building = _MEMORY
            self._make(_MEMORY)

    def _make(self, path: str) -> None:
        """A new database."""
        self._connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        self._run(f"PRAGMA page_size = {_PAGE}")
        self._run("PRAGMA journal_mode = OFF")
        self._run("PRAGMA synchronous = OFF")
        self._run(f"PRAGMA user_version = {FORMAT}")
        for table in _TABLES:
            self._run(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, data BLOB)")
        self.empty, self._sum, self._pairs = True, 0, {}

    def close(self) -> None:
        """Lets go of the files; what was added since the last commit is dropped."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self.values.close()
        self.values = Values(None, self._place)
        self._remove_unfinished()
        self._building = ""

    def _remove_unfinished(self) -> None:
        """Removes new files that were not committed."""
        if self._building and self._building != _MEMORY:
            for path in self.paths:
                with suppress(OSError):
                    os.unlink(path + self._building)

    # ---- damage

    def _check(self) -> None:
        """Trusts the files where they are as they were sealed. Else verifies all that they hold, and may seal
        them."""
        seal = Seal(self._sum, self._stats)
        if seal == seal_of(self.path) and is_checkpointed(self.path):
            return
        if self._run("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise StoreDamaged("it is no database throughout")
        found = 0
        for table in _TABLES:
            for key, data in self._run(_SELECT_ALL[table]):
                _payload(table, key, data)
                found += _checksum(data)
        noted = self._run(_SELECT[NOTES], (_key_of(_SUM),)).fetchone()
        if found - _checksum(noted[0]) & _ALL != self._sum:
            raise StoreDamaged("a part is missing, or older than the rest")
        for number in range(256):
            self._verify_values(self.pairs(PLACES + number))
        if self._seals and stats_of(self.path) == self._stats and is_checkpointed(self.path):
            with suppress(OSError):
                _set_seal(self.path, seal)

    def _verify_values(self, pairs: bytes) -> None:
        for at in range(0, len(pairs), 2 * ID):
            if digest(self.values.at(int.from_bytes(pairs[at + ID : at + 2 * ID], "big")))[:ID] != pairs[at : at + ID]:
                raise StoreDamaged("a value is missing, or older than the rest")

    # ---- reading

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        assert self._connection is not None
        return self._connection.execute(statement, values)

    def _get(self, table: str, key: int) -> bytes | None:
        """A blob, None where there is none."""
        try:
            found = self._run(_SELECT[table], (key,)).fetchone()
        except sqlite3.Error as error:
            raise StoreDamaged(str(error)) from None
        return None if found is None else _payload(table, key, found[0])

    def record(self, id_: bytes) -> Record | None:
        """The row that is stored under a number."""
        payload = self._get(ROWS, _key(id_))
        return None if payload is None else _decoded(_record_decoder, payload)

    def older(self, id_: bytes) -> list[Trace]:
        """What the row came to before, the latest first."""
        payload = self._get(OLDER, _key(id_))
        return [] if payload is None else _decoded(_traces_decoder, payload)

    def _place(self, found: bytes) -> Place | None:
        """Where the value with a digest is, as far as it was kept."""
        pairs = self.pairs(PLACES + found[ID - 1])
        at = next(places(pairs, found[:ID], 2 * ID), None)
        return None if at is None else int.from_bytes(pairs[at + ID : at + 2 * ID], "big")

    def readers(self, id_: bytes) -> set[bytes]:
        """The rows that once read this one."""
        pairs = self.pairs(READERS + id_[-1])
        return {pairs[at + ID : at + 2 * ID] for at in places(pairs, id_, 2 * ID)}

    def pairs(self, number: int) -> bytes:
        """The pairs of a kind whose first ends alike."""
        found = self._pairs.get(number)
        if found is None:
            payload = b"" if self.empty else self._get(PAIRS, number)
            if payload is None:
                raise StoreDamaged("what reads what is missing")
            found = self._pairs[number] = payload
        return found

    def note(self, name: str) -> bytes:
        """What was noted about all rows; nothing where there are none."""
        payload = b"" if self.empty else self._get(NOTES, _key_of(name))
        if payload is None:
            raise StoreDamaged("what is known of all rows is missing")
        return payload

    def ids(self) -> set[bytes]:
        """The numbers of all rows."""
        try:
            return {id_.to_bytes(ID, "big", signed=True) for (id_,) in self._run("SELECT id FROM rows")}
        except sqlite3.Error as error:
            raise StoreDamaged(str(error)) from None

    def records(self) -> dict[bytes, Record]:
        """All rows, by number."""
        found = {id_: self.record(id_) for id_ in self.ids()}
        return {id_: record for id_, record in found.items() if record is not None}

    # ---- writing

    def add_values(self, values: Mapping[bytes, bytes]) -> None:
        """Adds values by their digests, for a later commit to keep. Where the disk is full, a new store leaves its room
        to what else is to be written."""
        self.values.add(values)
        if self.values.problem is not None and self._building:
            self.values.hold()
            self._remove_unfinished()

    def commit(
        self,
        notes: Mapping[str, bytes],
        records: Mapping[bytes, Record],
        older: Mapping[bytes, list[Trace]],
        readers: Iterable[tuple[bytes, bytes]],
    ) -> bool:
        """Keeps what a round found: notes, rows, what they once were, what is read and by which row. Values have been
        added. False where that could not be kept: `problem` says why, unless it is that another process wrote first."""
        try:
            if self.values.problem is not None:
                raise self.values.problem
            if self._building != _MEMORY and stat_of(self.path) != self._stats[0]:
                self.close()  # another process has written
                return False
            placed = self.values.placed.items()
            self._set(ROWS, {_key(id_): encode(record) for id_, record in records.items()})
            self._set(OLDER, {_key(id_): encode(traces) for id_, traces in older.items()})
            self._add_pairs(READERS, readers)
            self._add_pairs(PLACES, ((found[:ID], place.to_bytes(ID, "big")) for found, place in placed))
            self._set(NOTES, {_key_of(name): data for name, data in notes.items()})
            known = self._sum = self._sum & _ALL
            self._set(NOTES, {_key_of(_SUM): known.to_bytes(ID, "big")})
            self._sum = known
            self._run("COMMIT")
            self._finish()
            return True
        except (sqlite3.Error, OSError) as error:
            if not _is_unusable(error):
                raise StoreDamaged(str(error)) from None
            self._why(error)
            self.close()
            return False

    def _add_pairs(self, kind: int, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Adds pairs of a kind: a row that is read and its reader, a digest and a place."""
        added = [bytearray() for _ in range(256)]
        for first, second in pairs:
            added[first[-1]] += first + second
        found = {kind + number: news for number, news in enumerate(added) if news or self.empty}  # so none is missing
        self._set(PAIRS, {number: self.pairs(number) + news for number, news in found.items()})
        self._pairs = {}

    def _set(self, table: str, payloads: Mapping[int, bytes]) -> None:
        """Puts blobs by number, in the place of those that were there, and adds up the checksums."""
        assert self._connection is not None
        values = [(key, _sealed(table, key, payloads[key])) for key in sorted(payloads)]
        for key, data in values:
            before = None if self.empty else self._run(_SELECT[table], (key,)).fetchone()
            self._sum += _checksum(data) - (_checksum(before[0]) if before is not None else 0)
        self._connection.executemany(_REPLACE[table], values)

    def _finish(self) -> None:
        """Puts what was committed into its place, and seals it."""
        if self._building == _MEMORY:
            return
        if self._building:
            self._put_in_place()
        else:
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        self._stats, self.empty, self.values.placed = stats_of(self.path), False, {}
        if is_checkpointed(self.path):  # else the next round verifies it
            _set_seal(self.path, Seal(self._sum, self._stats))

    def _put_in_place(self) -> None:
        """Puts new files where they belong. When only the values get there, the old rows have lost theirs."""
        assert self._connection is not None
        self._connection.close()
        self._connection = None
        self.values.close()
        for end in _BESIDE:  # of the file that it replaces
            make_way(self.path + end)
        for path in reversed(self.paths):
            move_file(path + self._building, path)
        self._building = ""
        self._connect()
        self.values = Values(self.paths[1], self._place)

    def _why(self, error: Exception) -> None:
        """Notes why nothing can be kept; that another process writes is no such reason."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            found = getattr(error, "filename", None)
            place = found if found and not found.endswith(self._building or "\0") else self.path
            self.problem = f"{place}: {getattr(error, 'strerror', None) or error}"


def stats_of(path: str) -> tuple[Stat | None, ...]:
    """What the system says of the files of the store at a path."""
    return stat_of(path), stat_of(path + _VALUES)


def seal_of(path: str) -> Seal | None:
    """The state in which the store at a path was last known to be whole, None where that cannot be read."""
    try:
        return _seal_decoder.decode(read_file(f"{path}.seal") or b"")
    except msgspec.MsgspecError:
        return None


def is_checkpointed(path: str) -> bool:
    """Whether SQLite keeps no more of a database than the file has."""
    found = stat_of(path + _BESIDE[0])
    return found is None or not found.size


def _set_seal(path: str, seal: Seal) -> None:
    overwrite_file(f"{path}.seal", encode(seal))


def _is_unusable(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    return not isinstance(error, sqlite3.Error) or (code & 0xFF in _UNUSABLE and code not in _UNREADABLE)


def _key(id_: bytes) -> int:
    """A number as SQLite has it."""
    return int.from_bytes(id_[:ID], "big", signed=True)


def _key_of(name: str) -> int:
    return _key(xxh3_64_digest(name.encode()))


def _seed(table: str, key: int) -> int:
    """What a checksum begins with: of each place another one, so that nothing counts at the place of another."""
    return key + _TABLES.index(table) & _ALL


def _sealed(table: str, key: int, payload: bytes) -> bytes:
    """A payload behind its checksum."""
    return xxh3_64_digest(payload, _seed(table, key)) + payload


def _payload(table: str, key: int, data: object) -> bytes:
    """The reverse; StoreDamaged where the checksum is another one."""
    if not isinstance(data, bytes) or xxh3_64_digest(data[ID:], _seed(table, key)) != data[:ID]:
        raise StoreDamaged("a checksum is wrong")
    return data[ID:]


def _checksum(data: bytes) -> int:
    return int.from_bytes(data[:ID], "big")


def _decoded(decoder: msgspec.msgpack.Decoder[T], payload: bytes) -> T:
    try:
        return decoder.decode(payload)
    except msgspec.MsgspecError:
        raise StoreDamaged("it is of another format") from None
