"""Damage: whatever is not as a store left it is discarded as a whole, and never extended."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from gradmill.io.files import stat_of
from gradmill.query.memo import StoreDamaged, row_of_query
from gradmill.store import sqlite
from gradmill.store.sqlite import SqliteStore
from tests.query.toy import Toy, length, total

TEXT = b"a: one\nb: three\nc: =a\n"
MANY = b"".join(b"w%d: x\n" % n for n in range(2000))  # enough for all parts of what is known of readers


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """A store, to copy."""
    toy = Toy(tmp_path_factory.mktemp("built"))
    toy.inputs |= {"x": TEXT, "y": MANY}
    toy.run((total, "x"), (total, "y"))
    return toy


@pytest.fixture
def toy(tmp_path: Path, built: Toy) -> Toy:
    toy = Toy(tmp_path)
    shutil.copytree(built.path.parent, toy.path.parent)
    toy.inputs, toy.noted = dict(built.inputs), stat_of(str(toy.path))
    return toy


def damage_readers(path: Path) -> None:
    """Corrupts readers in the file. The structure of the database remains valid."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE calls SET readers = x'80' WHERE readers <> x''")


def test_damaged_readers_do_not_become_valid_by_being_extended(toy: Toy) -> None:
    """`y` is not requested in the round that meets the damage: the edit after that still reaches it."""
    toy.inputs["z"] = MANY
    db = toy.begin()
    damage_readers(toy.path)
    assert total(db, "z") == 2000
    db.commit()
    toy.inputs["y"] = b"a: eleven\n"
    assert toy.run((total, "y"))[0] == [6]


CELLS = ["calls.memo", "calls.past", "calls.readers", "calls.sum", "contents.data", "state.data"]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("data", ["NULL", "1.5", "'text'", "x'ff'"])
def test_a_cell_of_any_type_is_damage(toy: Toy, cell: str, data: str) -> None:
    """SQLite stores values of any type in any column."""
    table, _, column = cell.partition(".")
    toy.inputs["x"] = TEXT + b"d: one\n"
    with closing(sqlite3.connect(toy.path)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = {data}")  # noqa: S608
    assert toy.run((total, "x"))[0] == [14]
    assert len(toy.warned) == 1


@pytest.mark.parametrize(("one", "two"), [(0, 1), (0, 5), (2, 4)])
def test_readers_whose_pages_changed_places_are_noticed(toy: Toy, one: int, two: int) -> None:
    """Everything is in the file, and a search does not find it."""
    data = toy.path.read_bytes()
    pages = [data[at : at + sqlite._PAGE] for at in range(0, len(data), sqlite._PAGE)]
    many = [number for number, page in enumerate(pages) if page[0] == 0x0D and page[4] > 8]  # leaves of a table
    leaves = [number for number in many if b"length" in pages[number]]
    pages[leaves[one]], pages[leaves[two]] = pages[leaves[two]], pages[leaves[one]]
    toy.path.write_bytes(b"".join(pages))
    assert toy.run((total, "x"))[0] == [11]
    assert len(toy.warned) == 1 and "its structure is corrupt" in toy.warned[0]


def test_a_full_disk_is_met_once(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are put away again and again in this round: after the first write that fails they stay in memory."""
    write, tried = sqlite.SqliteStore._write_values, []

    def full(store: sqlite.SqliteStore) -> None:
        write(store)
        tried.append(len(store._held))
        if len(tried) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sqlite.SqliteStore, "_write_values", full)
    monkeypatch.setattr(sqlite, "_HELD", 1)
    toy.room, toy.path = 1, toy.path.parent / "other" / "rows"
    db = toy.begin()
    assert (total(db, "x"), total(db, "y")) == (11, 2000)
    assert len(tried) == 4
    assert os.listdir(toy.path.parent) == []
    assert not db.commit()
    assert db.problem == f"{toy.path}: No space left on device"
    assert os.listdir(toy.path.parent) == []


@pytest.mark.parametrize("writes", [True, False])
def test_values_of_a_first_revision_do_not_pile_up_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, writes: bool
) -> None:
    """Whoever only reads has an empty store to write them to, too."""
    monkeypatch.setattr(sqlite, "_HELD", 1)
    store = sqlite.SqliteStore(str(tmp_path / "rows"), writes=writes)
    store.begin()
    store.put(b"digest", b"a value")
    assert store._held == {}
    store.close()


def test_what_is_copied_or_moved_whole_is_accepted(toy: Toy) -> None:
    for name in ("copied", "again"):
        folder = toy.path.parent.parent / name
        shutil.copytree(toy.path.parent, folder)
        toy.path = folder / "rows"
        assert toy.run((total, "x"), (total, "y")) == ([11, 2000], [])
    assert toy.warned == []


def test_a_commit_does_not_wait_for_who_reads_and_the_next_run_is_right(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_WAIT", 30.0)
    reader = SqliteStore(str(toy.path), writes=False)
    reader.begin()
    toy.inputs["x"] = TEXT.replace(b"one", b"eleven")
    begin = time.monotonic()
    assert toy.run((total, "x"))[0] == [17]
    assert time.monotonic() - begin < 15
    assert toy.run((total, "x"), (total, "y")) == ([17, 2000], [])
    assert reader.memo(row_of_query(total, ("x",))) is not None
    reader.close()
    toy.inputs["x"] = TEXT
    assert toy.run((total, "x"))[0] == [11]
    assert toy.warned == []


def test_a_file_of_another_age_is_accepted_as_a_whole(toy: Toy) -> None:
    older = toy.path.read_bytes()
    toy.inputs["y"] = MANY.replace(b"x", b"xyz" * 40)
    toy.run((total, "y"))
    toy.path.write_bytes(older)
    assert toy.run((total, "x"), (total, "y"))[0] == [11, 240_000]
    assert toy.warned == []


ONE = f"WHERE key = {row_of_query(total, ('z',))}"  # which the older ones lack


@pytest.mark.parametrize("condition", ["", "WHERE readers <> x''", "WHERE memo = x''", ONE])
def test_entries_of_another_age_are_noticed(toy: Toy, condition: str) -> None:
    """Each entry is sound: only the sum of all checksums shows it."""
    older = rows_of(toy.path, condition)
    toy.inputs["z"] = MANY.replace(b": x", b": zz")
    toy.run((total, "z"))
    with closing(sqlite3.connect(toy.path)) as connection, connection:
        if not condition:
            connection.execute("DELETE FROM calls")
        else:  # at least one that is not as it was
            connection.execute(f"DELETE FROM calls WHERE key IN (SELECT key FROM calls {condition})")  # noqa: S608
        connection.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?)", older)
    toy.inputs["z"] = b"a: b\n"
    assert toy.run((total, "x"), (total, "z"))[0] == [11, 1]
    assert len(toy.warned) == (1 if rows_of(toy.path, "") != older or condition else 0)


def rows_of(path: Path, condition: str) -> list[tuple[object, ...]]:
    """Entries of a store."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT * FROM calls {condition}").fetchall()  # noqa: S608


def test_a_store_that_has_grown_a_lot_begins_anew(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits add past memos and values; what one round adds at once, of another file, is no growth."""
    monkeypatch.setattr(sqlite, "_GROWTH", 2)
    first = toy.path.stat().st_size
    toy.inputs["z"] = b"".join(b"v%d: %d\n" % (n, n) for n in range(6_500))
    toy.run((total, "z"))
    assert toy.path.stat().st_size > 3 * first
    assert toy.run((total, "x"), (total, "y"), (total, "z"))[1] == []
    sizes = []
    for n in range(1, 10):
        toy.inputs["z"] = b"".join(b"v%d: %d\n" % (m, 7**n) for m in range(2_000))
        assert toy.run((total, "z"))[0] == [2_000 * len(str(7**n))]
        sizes.append(toy.path.stat().st_size)
    assert any(2 * after < before for before, after in pairwise(sizes))
    assert toy.run((total, "x"), (total, "z"))[0] == [11, 2_000 * len(str(7**9))]
    assert toy.warned == []


@pytest.mark.parametrize("part", ["rows", "cache"])
def test_a_store_that_cannot_be_written_to_is_read(toy: Toy, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    before = {path.name: path.read_bytes() for path in toy.path.parent.iterdir()}
    monkeypatch.setattr("gradmill.store.sqlite.os.access", lambda path, _: Path(path).name != part)
    db = toy.open()
    assert toy.run((total, "x"), db=db) == ([11], [])
    assert "Permission denied" in db.problem
    toy.inputs["x"] = TEXT.replace(b"one", b"three")
    assert toy.run((total, "x"), db=db)[0] == [15]
    assert {path.name: path.read_bytes() for path in toy.path.parent.iterdir()} == before
    assert toy.warned == []


def test_a_store_that_is_only_read_is_not_trusted_after_it_changed(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite takes it to be immutable, and would not notice."""
    monkeypatch.setattr("gradmill.store.sqlite.os.access", lambda path, _: Path(path).name != "rows")
    db = toy.begin()
    read = row_of_query(length, ("x", "a"))
    assert row_of_query(total, ("x",)) in db.readers(read, None)
    os.utime(toy.path)
    with pytest.raises(StoreDamaged, match="it changes while it is read"):
        db.readers(row_of_query(length, ("x", "b")), None)
