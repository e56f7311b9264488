"""Damage: whatever is not as a store left it is discarded as a whole, and never extended."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.query.memo import StoreDamaged, row_of_query
from pipeline.store.sqlite import seal_of, stats_of
from tests.query.toy import Toy, length, total

TEXT = b"a: one\nb: three\nc: =a\n"
MANY = b"".join(b"w%d: x\n" % n for n in range(2000))  # enough for all parts of what is known of readers


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": MANY}
    toy.run((total, "x"), (total, "y"))
    return toy


def damage_readers(path: Path) -> None:
    """Corrupts readers in the file. The structure of the database remains valid."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE reads SET reader = reader - 2")


def test_damaged_readers_do_not_become_valid_by_being_extended(toy: Toy) -> None:
    """`y` is not requested in the round that meets the damage: the edit after that still reaches it."""
    toy.inputs["z"] = MANY
    db = toy.begin()
    damage_readers(toy.path)
    assert total(db, "z") == 2000
    db.commit()
    toy.inputs["y"] = b"a: eleven\n"
    assert toy.run((total, "y"))[0] == [6]


@pytest.mark.parametrize("kept", ["NULL", "x'00'", "1.5", "sum + 1"])
def test_a_checksum_of_any_type_is_compared(toy: Toy, kept: str) -> None:
    """SQLite stores values of any type in any column."""
    with closing(sqlite3.connect(toy.path)) as connection, connection:
        connection.execute(f"UPDATE memos SET sum = {kept}")  # noqa: S608
    assert toy.run((total, "x"))[0] == [11]
    problem = "a checksum is wrong" if kept == "sum + 1" else "an entry is of another type"
    assert len(toy.warned) == 1 and problem in toy.warned[0]


@pytest.mark.parametrize(("one", "two"), [(0, 1), (0, 5), (2, 4)])
def test_readers_whose_pages_changed_places_are_noticed(toy: Toy, one: int, two: int) -> None:
    """Everything is in the file, and a search does not find it."""
    data = toy.path.read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    leaves = [number for number, page in enumerate(pages) if page[0] == 0x0A]  # of an index, without children
    pages[leaves[one]], pages[leaves[two]] = pages[leaves[two]], pages[leaves[one]]
    toy.path.write_bytes(b"".join(pages))
    assert toy.run((total, "x"))[0] == [11]
    assert len(toy.warned) == 1 and "its structure is corrupt" in toy.warned[0]


def test_a_full_disk_is_met_once(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are put away again and again in this round: after the first write that fails they stay in memory."""
    write, failed = os.write, []

    def full(file: int, data: bytes) -> int:
        if os.readlink(f"/proc/self/fd/{file}").endswith(".tmp"):
            failed.append(len(data))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr("pipeline.store.values._BUFFER", 1)
    toy.room, toy.path = 1, toy.path.parent / "other" / "rows"
    db = toy.begin()
    assert (total(db, "x"), total(db, "y")) == (11, 2000)
    assert len(failed) == 1
    assert os.listdir(toy.path.parent) == []
    assert not db.commit()
    assert db.problem == f"{toy.path}: No space left on device"
    assert os.listdir(toy.path.parent) == []


def test_what_is_copied_or_moved_whole_is_accepted(toy: Toy) -> None:
    for name in ("copied", "again"):
        folder = toy.path.parent.parent / name
        shutil.copytree(toy.path.parent, folder)
        toy.path = folder / "rows"
        assert toy.run((total, "x"), (total, "y")) == ([11, 2000], [])
        assert seal_of(str(toy.path)) == stats_of(str(toy.path))
    assert toy.warned == []


@pytest.mark.parametrize("name", ["rows", "rows.values"])
def test_a_file_of_another_age_is_noticed(toy: Toy, name: str) -> None:
    """Newer values serve older rows, as values are only added; newer rows lack values in older ones."""
    path = toy.path.with_name(name)
    older = path.read_bytes()
    toy.inputs["y"] = MANY.replace(b"x", b"xyz" * 40)
    toy.run((total, "y"))
    path.write_bytes(older)
    assert toy.run((total, "x"), (total, "y"))[0] == [11, 240_000]
    assert len(toy.warned) == (name == "rows.values")


@pytest.mark.parametrize(("table", "marks"), [("memos", "?, ?, ?"), ("reads", "?, ?, ?"), ("places", "?, ?")])
def test_a_part_of_another_age_is_noticed(toy: Toy, table: str, marks: str) -> None:
    """Each entry is sound: only the sum of all checksums shows it."""
    with closing(sqlite3.connect(toy.path)) as connection, connection:
        older = connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608
    toy.inputs["z"] = MANY.replace(b": x", b": zz")
    toy.run((total, "z"))
    with closing(sqlite3.connect(toy.path)) as connection, connection:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", older)  # noqa: S608
    toy.inputs["z"] = b"a: b\n"
    assert toy.run((total, "x"), (total, "z"))[0] == [11, 1]
    assert len(toy.warned) == 1


@pytest.mark.parametrize("part", ["rows", "cache"])
def test_a_store_that_cannot_be_written_to_is_read(toy: Toy, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    before = {path.name: path.read_bytes() for path in toy.path.parent.iterdir()}
    monkeypatch.setattr("pipeline.store.sqlite.os.access", lambda path, _: Path(path).name != part)
    db = toy.open()
    assert toy.run((total, "x"), db=db) == ([11], [])
    assert "Permission denied" in db.problem
    toy.inputs["x"] = TEXT.replace(b"one", b"three")
    assert toy.run((total, "x"), db=db)[0] == [15]
    assert {path.name: path.read_bytes() for path in toy.path.parent.iterdir()} == before
    assert toy.warned == []


def test_a_store_that_is_only_read_is_not_trusted_after_it_changed(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite takes it to be immutable, and would not notice."""
    monkeypatch.setattr("pipeline.store.sqlite.os.access", lambda path, _: Path(path).name != "rows")
    db = toy.begin()
    read = row_of_query(length, ("x", "a"))
    assert row_of_query(total, ("x",)) in db.all_readers(read)
    os.utime(toy.path)
    with pytest.raises(StoreDamaged, match="it changes while it is read"):
        db.all_readers(read)
