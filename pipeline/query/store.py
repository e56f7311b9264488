"""The store: rows in one SQLite file, which is replaced or changed at once or not at all; values in one beside it.

Everything in it carries a checksum. What is damaged counts as missing; a file that is no database any more is made
anew. A file that was changed by anything but a store is not `sound`: what it says of who reads whom is then not relied
on, and every row is checked by its own reads.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from pipeline.query.files import Place, Stat, Values, make_way, move_file, seal_of, sealed, set_seal, stat_of, unsealed
from pipeline.query.row import ID, Record, Row, Trace, encode, places

FORMAT = 9  # of all that is stored
SMALL = 96  # bytes of a value that stands in its row

_TABLES = (
    "CREATE TABLE rows (id INTEGER PRIMARY KEY, record BLOB, older BLOB)",
    "CREATE TABLE pairs (id INTEGER PRIMARY KEY, data BLOB)",
    "CREATE TABLE notes (name TEXT PRIMARY KEY, data BLOB)",
)
READERS, PLACES = 0, 256  # where pairs of a kind begin, in a row each by how the first ends: see `add_pairs`
_MEMORY = ":memory:"
_BESIDE = ("-wal", "-shm")  # files that SQLite has beside a database
_VALUES = ".values"  # what the name of the file with values ends with
_PAGE = 4096  # bytes; where a file cannot have so many, there can be no database
_WAIT = 10.0  # seconds that another process may take to write
_BROKEN = (sqlite3.Error, OSError, ValueError)  # what SQLite says of a damaged file; ValueError: a name that is no text

_record_decoder = msgspec.msgpack.Decoder(Record)
_traces_decoder = msgspec.msgpack.Decoder(list[Trace])


class Store:
    """One file. A file that is not there yet is built beside its place, and put there by the first commit."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.sound = False
        self.empty = True
        self.problem = ""  # why nothing can be kept
        self._building = ""  # what the names of new files end with, until they are committed
        self._connection: sqlite3.Connection | None = None
        self._left: list[Stat | None] = []  # what the system said of the files when this store last wrote them
        self._pairs: dict[int, bytes] = {}  # as far as somebody asked
        self.values = Values(None, self._place)

    @property
    def paths(self) -> tuple[str, str]:
        """The files: rows, values."""
        return self.path, self.path + _VALUES

    # ---- opening and closing

    def begin(self) -> bool:
        """Starts to read one state of the file. False where it is not the state that this store left it in."""
        open_ = self._connection is not None and not self._connection.in_transaction  # else a round was not kept
        now = list(map(stat_of, self.paths))
        same = open_ and not self._building and now == self._left
        try:
            if not same:
                self.close()
                self.sound = now == seal_of(self.path)
                self._open()
            self._run("BEGIN")
            self.empty = self.note("format") != encode(FORMAT)
            if not self._building and (self.empty or not (self.sound or self._is_whole())):
                raise sqlite3.DatabaseError("damaged, or of another format")
        except _BROKEN:
            self.close()
            self._create()
            self._run("BEGIN")
        self._pairs = {}
        return same

    def begin_anew(self) -> None:
        """Starts a new file, which takes the place of the old one when it is committed."""
        self._create()
        self._run("BEGIN")

    def _open(self) -> None:
        if not os.path.exists(self.path):
            self._create()
            return
        for end in _BESIDE:
            if os.path.isdir(self.path + end):
                make_way(self.path + end)
        self.values = Values(self.paths[1], self._place)
        self._connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
        self._run("PRAGMA synchronous = OFF")  # first of all: the next line would wait for the disk
        self._run("PRAGMA journal_mode = WAL")

    def _create(self) -> None:
        """A new file under a name of this process's own; in memory where none can be written."""
        self._building = f".{os.getpid()}.tmp"
        path = self.path + self._building
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            with open(path, "wb") as file:  # the system says why it cannot be; SQLite would not
                file.write(bytes(_PAGE))
                file.truncate(0)
            self.values = Values(self.paths[1] + self._building, self._place, anew=True)
            self._make(path)
            self.problem = ""
        except (OSError, sqlite3.Error) as error:
            self._why(error)
            self.close()
            self._building = _MEMORY
            self._make(_MEMORY)
        self.sound = self.empty = True

    def _make(self, path: str) -> None:
        """A new database."""
        self._connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        self._run(f"PRAGMA page_size = {_PAGE}")
        self._run("PRAGMA journal_mode = OFF")
        self._run("PRAGMA synchronous = OFF")
        for statement in _TABLES:
            self._run(statement)

    def _is_whole(self) -> bool:
        """Whether the file is a database throughout."""
        return bool(self._run("PRAGMA quick_check(1)").fetchone() == ("ok",))

    def close(self) -> None:
        """Lets go of the file; what was added since the last commit is dropped."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self.values.close()
        self.values = Values(None, self._place)
        if self._building and self._building != _MEMORY:
            for path in self.paths:
                with suppress(OSError):
                    os.unlink(path + self._building)
        self._building = ""

    # ---- reading

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        assert self._connection is not None
        return self._connection.execute(statement, values)

    def _one(self, statement: str, key: object) -> Any:
        """The first value that a statement gives, None where there is none or the file is damaged."""
        try:
            found = self._run(statement, (key,)).fetchone()
        except _BROKEN:
            self.sound = False
            return None
        return found[0] if found else None

    def record(self, id_: bytes) -> Record | None:
        """The row that is stored under a number."""
        payload = unsealed(self._one("SELECT record FROM rows WHERE id = ?", _key(id_)))
        try:
            return None if payload is None else _record_decoder.decode(payload)
        except msgspec.MsgspecError:
            return None

    def older(self, id_: bytes) -> list[Trace]:
        """What the row came to before, the latest first."""
        payload = unsealed(self._one("SELECT older FROM rows WHERE id = ?", _key(id_)))
        try:
            return [] if payload is None else _traces_decoder.decode(payload)
        except msgspec.MsgspecError:
            return []

    def _place(self, found: bytes) -> Place | None:
        """Where the value with a digest is, as far as was kept: where it was put last."""
        pairs = self.pairs(PLACES + found[ID - 1])
        at = max(places(pairs, found[:ID], 2 * ID), default=None)
        return None if at is None else int.from_bytes(pairs[at + ID : at + 2 * ID], "big")

    def readers(self, id_: bytes) -> set[bytes]:
        """The rows that once read this one, as far as is known."""
        pairs = self.pairs(READERS + id_[-1])
        return {pairs[at + ID : at + 2 * ID] for at in places(pairs, id_, 2 * ID)}

    def pairs(self, number: int) -> bytes:
        """The pairs of a kind whose first ends alike."""
        found = self._pairs.get(number)
        if found is None:
            data = None if self.empty else self._one("SELECT data FROM pairs WHERE id = ?", number)
            payload = unsealed(data)
            if data is not None and payload is None:
                self.sound = False
            found = self._pairs[number] = payload or b""
        return found

    def note(self, name: str) -> bytes | None:
        """What was noted about all rows."""
        return unsealed(self._one("SELECT data FROM notes WHERE name = ?", name))

    def ids(self) -> set[bytes]:
        """The numbers of all rows."""
        try:
            return {id_.to_bytes(ID, "big", signed=True) for (id_,) in self._run("SELECT id FROM rows")}
        except _BROKEN:
            return set()

    def records(self) -> dict[bytes, Record]:
        """All rows that can be read, by number."""
        found = {id_: self.record(id_) for id_ in self.ids()}
        return {id_: record for id_, record in found.items() if record is not None}

    # ---- writing

    def add_records(self, records: Mapping[bytes, Record]) -> None:
        """Adds rows to a new file."""
        values = sorted((_key(id_), sealed(encode(record))) for id_, record in records.items())
        self._add("INSERT INTO rows (id, record) VALUES (?, ?)", values)

    def add(self, rows: Iterable[Row]) -> None:
        """Adds rows, whose values are there already."""
        self._add(
            "INSERT INTO rows (id, record, older) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET record = excluded.record, older = coalesce(excluded.older, older)",
            sorted(map(_stored, rows)),
        )

    def add_pairs(self, kind: int, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Adds pairs of a kind: a row that is read and its reader, a digest and a place."""
        added = [bytearray() for _ in range(256)]
        for first, second in pairs:
            added[first[-1]] += first + second
        found = ((kind + number, news) for number, news in enumerate(added) if news)
        values = [(number, sealed(self.pairs(number) + news)) for number, news in found]
        self._add("INSERT OR REPLACE INTO pairs VALUES (?, ?)", values)
        self._pairs = {}

    def _add(self, statement: str, values: list[Any]) -> None:
        assert self._connection is not None
        self._connection.executemany(statement, values)

    def commit(self, notes: Mapping[str, bytes]) -> bool:
        """Keeps all that was added, and starts to read anew. False where it could not be kept."""
        assert self._connection is not None
        try:
            placed = self.values.placed.items()
            self.add_pairs(PLACES, ((found[:ID], place.to_bytes(ID, "big")) for found, place in placed))
            values = [(name, sealed(data)) for name, data in {"format": encode(FORMAT), **notes}.items()]
            self._add("INSERT OR REPLACE INTO notes VALUES (?, ?)", values)
            self._run("COMMIT")
            if not self._building:
                self._run("PRAGMA wal_checkpoint(TRUNCATE)")
            elif self._building != _MEMORY:
                self._put_in_place()
            if self._building != _MEMORY:
                self._left = set_seal(*self.paths)
            self.sound, self.empty, self.values.placed = True, False, {}
            return True
        except (sqlite3.Error, OSError) as error:
            self.give_up(error)
            return False

    def give_up(self, error: Exception) -> None:
        """Drops what was added; the file too, where it is damaged and not only in use."""
        self._why(error)
        self.close()
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                os.unlink(self.path)

    def _why(self, error: Exception) -> None:
        found = getattr(error, "filename", None)
        place = found if found and not found.endswith(self._building or "\0") else self.path
        self.problem = f"{place}: {getattr(error, 'strerror', None) or error}"

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
        self._open()


def _key(id_: bytes) -> int:
    """A number as SQLite has it."""
    return int.from_bytes(id_[:ID], "big", signed=True)


def _stored(row: Row) -> tuple[int, bytes, bytes | None]:
    assert row.trace is not None
    older = sealed(encode(row.older)) if row.older else None
    return _key(row.id), sealed(encode(Record(row.name, row.trace))), older
