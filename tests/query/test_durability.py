"""Kills, flipped bytes, other processes: the next revisions are right, and no error reaches the caller."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gradmill.io.files import stat_of
from gradmill.query.database import Database
from gradmill.query.memo import StoreDamaged, row_of_query
from gradmill.query.store import Changes
from gradmill.store import memory, sqlite
from gradmill.store.memory import MemoryStore
from tests.query.toy import Toy, page, summary, total, words

TEXT = b"".join(b"w%d: %s\n" % (n, b"x" * (n % 7)) for n in range(40))
EDITED = TEXT.replace(b"w3: xxx", b"w3: y").replace(b"w9: xx\n", b"")
ROOTS: tuple[tuple[Any, ...], ...] = ((total, "x"), (page, "x"), (summary, "x"), (words, "x"))


def values_of(text: bytes, folder: Path) -> list[Any]:
    """What a first revision returns."""
    toy = Toy(folder)
    toy.inputs["x"] = text
    return toy.run(*ROOTS)[0]


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[bytes, list[Any]]:
    folder = tmp_path_factory.mktemp("right")
    return {text: values_of(text, folder / str(n)) for n, text in enumerate((TEXT, EDITED))}


# ---- kills

STEPS = ("move_file", "make_way", "leave_files_only", "new_file")  # of the file system


def killed(work: Callable[[], object], at: int) -> bool:
    """Whether a copy of this process, killed before one of its writes, got there."""
    child = os.fork()
    if child == 0:
        left = [at]

        def step(function: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)
                return function(*args, **kwargs)

            return run

        for name in STEPS:
            setattr(sqlite, name, step(getattr(sqlite, name)))
        for name in ("_run", "_write_values"):
            setattr(sqlite.SqliteStore, name, step(getattr(sqlite.SqliteStore, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("first", [True, False], ids=["a new store", "an old store"])
def test_a_commit_that_is_killed_anywhere_leaves_one_state_or_the_other(
    tmp_path: Path, right: dict[bytes, list[Any]], *, first: bool
) -> None:
    before = Toy(tmp_path / "before")
    before.inputs["x"] = TEXT
    if not first:
        before.run(*ROOTS)
    at, step = 0, 2 if first else 5
    while True:
        toy = Toy(tmp_path / str(at))
        if not first:
            shutil.copytree(before.path.parent, toy.path.parent)
        toy.inputs["x"] = EDITED
        if not killed(lambda toy=toy: toy.run(*ROOTS), at):  # type: ignore[misc]
            break
        assert toy.run(*ROOTS)[0] == right[EDITED]
        assert toy.run(*ROOTS) == (right[EDITED], [])
        assert toy.warned == []
        at += step
    assert at > 10


# ---- flipped bytes


def flips(tmp_path: Path, right: dict[bytes, list[Any]], step: int) -> int:
    """Flips each `step`th byte of the file in turn. The number of stores that were discarded for it."""
    sound = Toy(tmp_path / "sound")
    for text in (EDITED, TEXT):
        sound.inputs["x"] = text
        sound.run(*ROOTS)
    data = sound.path.read_bytes()
    discarded = 0
    for at in range(0, len(data), step):
        toy = Toy(tmp_path / "flipped")
        shutil.rmtree(toy.path.parent, ignore_errors=True)
        shutil.copytree(sound.path.parent, toy.path.parent)
        toy.path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        for text in (EDITED, TEXT):
            toy.inputs["x"] = text
            assert toy.run(*ROOTS)[0] == right[text], at
        discarded += len(toy.warned)
        assert len(toy.warned) <= 1
    return discarded


def test_a_flipped_byte_is_noticed_or_means_nothing(tmp_path: Path, right: dict[bytes, list[Any]]) -> None:
    assert flips(tmp_path, right, 331) > 0


@pytest.mark.campaign
def test_many_bytes_are_flipped(tmp_path: Path, right: dict[bytes, list[Any]]) -> None:
    flips(tmp_path, right, 7)


# ---- other stores, other processes


class Broken(MemoryStore):
    """A store that loses what it was given, when it is asked for it."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__("")
        self._chance = chance

    def lose(self, where: str) -> None:
        if self._chance.random() < 0.01:
            raise StoreDamaged(f"{where} is missing")

    def memo(self, row: int) -> Any:
        self.lose("a memo")
        return super().memo(row)

    def value(self, key: bytes) -> bytes:
        self.lose("a value")
        return super().value(key)

    def readers(self, row: int) -> Any:
        self.lose("a reader")
        return super().readers(row)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", [MemoryStore, Broken])
def test_any_store_will_do(tmp_path: Path, seed: int, kind: type[MemoryStore]) -> None:
    chance = random.Random(seed)
    store = Broken(chance) if kind is Broken else MemoryStore("")
    for _ in range(10):
        text = b"".join(b"w%d: %s\n" % (n, b"x" * chance.randrange(4)) for n in range(chance.randrange(40)))
        toy = Toy(tmp_path / str(chance.random()))
        expected = values_of(text, toy.path.parent / "fresh")
        toy.inputs["x"] = text
        opened = toy.open()
        db = Database(store, opened._find, 0, toy.warned.append)
        for _ in range(3):  # a request that starts over may meet damage again
            try:
                assert toy.run(*ROOTS, db=db)[0] == expected
                break
            except StoreDamaged:
                assert kind is Broken
        else:
            raise AssertionError("the store is damaged all the time")


def test_results_in_memory_are_those_over_a_store_on_the_disk(
    tmp_path: Path, right: dict[bytes, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is not changed. A store with many former results is noticed; after that it begins with the disk."""
    monkeypatch.setattr(memory, "LIMIT", 0)
    toy = Toy(tmp_path)
    toy.inputs["x"] = TEXT
    toy.run(*ROOTS)
    before, store = toy.path.read_bytes(), MemoryStore(str(toy.path))
    db = Database(store, toy.open()._find, 0, toy.warned.append)
    overgrown = []
    for number in range(8):
        toy.inputs["x"] = (TEXT, EDITED)[number % 2] + (b"more%d: a\n" % number) * (number > 3)
        assert toy.run(*ROOTS, db=db)[0] == values_of(toy.inputs["x"], tmp_path / str(number))
        overgrown.append(store.is_overgrown)
        if store.is_overgrown:
            store.close()
    assert (overgrown[0], True in overgrown) == (False, True)
    assert (toy.path.read_bytes(), toy.warned) == (before, [])


class Refusing(MemoryStore):
    """A store that refuses every second commit."""

    refuses = False

    def commit(self, changes: Changes) -> bool:
        self.refuses = not self.refuses
        return not self.refuses and super().commit(changes)


def test_a_commit_that_is_refused_leaves_nothing_in_memory(tmp_path: Path) -> None:
    toy, store = Toy(tmp_path), Refusing("")
    opened = toy.open()
    db = Database(store, opened._find, 0, toy.warned.append)
    for text in (TEXT, EDITED, TEXT, EDITED, EDITED, TEXT):
        toy.inputs["x"] = text
        assert toy.run(*ROOTS, db=db)[0] == values_of(text, tmp_path / str(random.random()))


def test_a_store_that_another_process_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_WAIT", 0.1)
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": b"a: one\n"}
    toy.run((total, "x"), (total, "y"))
    toy.inputs["y"] = b"a: three\n"
    changed = []
    readers = sqlite.SqliteStore.readers

    def meanwhile(store: sqlite.SqliteStore, row: int) -> Any:
        if not changed:
            changed.append(True)
            other = Toy(tmp_path)
            other.inputs = {**toy.inputs, "x": EDITED}
            other.run((total, "x"))
        return readers(store, row)

    monkeypatch.setattr(sqlite.SqliteStore, "readers", meanwhile)
    assert toy.run((total, "y"))[0] == [5]
    assert toy.warned == []
    toy.inputs["x"] = EDITED
    assert toy.run((total, "x"), (total, "y"))[0] == [sum(n % 7 for n in range(40)) - 4, 5]


def test_readers_that_are_damaged_while_they_are_read_are_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT}
    toy.run(*ROOTS)
    readers, met = sqlite.SqliteStore.readers, []

    def lost(store: sqlite.SqliteStore, row: int) -> Any:
        if len(met) < 2:
            met.append(row)
            os.utime(toy.path)
            return {}
        return readers(store, row)

    monkeypatch.setattr(sqlite.SqliteStore, "readers", lost)
    toy.inputs["x"] = EDITED
    assert toy.run((total, "x"))[0] == [sum(n % 7 for n in range(40)) - 4]


def test_a_memo_under_a_number_of_another_call_is_none(tmp_path: Path) -> None:
    """Two names may share a number: then the memo is the other call's."""
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": b"a: one\n"}
    toy.run((total, "x"), (total, "y"))
    db = toy.begin()
    memo = toy.store.memo(row_of_query(total, ("y",)))
    assert memo is not None
    read = toy.store.memo
    toy.store.memo = lambda row: memo if row == row_of_query(total, ("x",)) else read(row)  # type: ignore[method-assign]
    assert total(db, "x") == sum(n % 7 for n in range(40))


def test_an_input_that_was_deleted_is_noticed(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": b"a: one\n"}
    toy.run((total, "x"), (total, "y"))
    del toy.inputs["y"]
    assert toy.run((total, "x"), (total, "y"))[0] == [sum(n % 7 for n in range(40)), 0]


def test_a_commit_of_another_process_within_a_tick_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stats that do not change hide it: the sum of all checksums shows it."""
    toy, other = Toy(tmp_path), Toy(tmp_path)
    toy.inputs["x"] = TEXT
    toy.run((total, "x"))
    monkeypatch.setattr(sqlite, "stat_of", lambda path: None)
    db = toy.open()
    assert toy.run((total, "x"), db=db)[1] == []
    other.inputs = {**toy.inputs, "x": EDITED}
    other.run((total, "x"), (page, "x"))
    toy.inputs["x"] = EDITED
    assert toy.run((total, "x"), db=db) == ([sum(n % 7 for n in range(40)) - 4], [])


def test_a_file_that_is_damaged_in_a_revision_is_not_extended(tmp_path: Path) -> None:
    """Bytes change that SQLite does not look at again: the next revisions must not trust them."""
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": b"a: one\n"}
    toy.run((total, "x"), (total, "y"))
    copy = tmp_path / "copy"
    shutil.copy2(toy.path, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE calls SET readers = x'80', sum = sum + 1 WHERE readers <> x''")
    db = toy.begin()
    toy.inputs["z"] = b"a: b\n"
    toy.path.write_bytes(copy.read_bytes()[:18] + toy.path.read_bytes()[18:28] + copy.read_bytes()[28:])
    assert total(db, "y") == 3
    db.commit()
    toy.inputs["y"] = b"a: eleven\n"
    assert toy.run((total, "y"))[0] == [6]
    assert toy.run((total, "x"), (total, "y"))[0] == [sum(n % 7 for n in range(40)), 6]


def test_a_memo_that_is_damaged_in_a_revision_is_not_read(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.inputs["x"] = TEXT
    toy.run((total, "x"))
    db = toy.begin()
    with closing(sqlite3.connect(toy.path)) as connection:
        key = (row_of_query(total, ("x",)),)
        (blob,) = connection.execute("SELECT memo FROM calls WHERE key = ?", key).fetchone()
    data = toy.path.read_bytes()
    assert data.count(blob) == 1
    toy.path.write_bytes(data.replace(blob, blob[:-1] + bytes([blob[-1] ^ 1])))
    assert total(db, "x") == sum(n % 7 for n in range(40))
    assert len(toy.warned) == 1
    assert stat_of(str(toy.path)) != toy.noted  # the next process verifies it, also if this process is killed


def test_values_that_are_damaged_in_a_revision_are_not_read(tmp_path: Path, right: dict[bytes, list[Any]]) -> None:
    toy = Toy(tmp_path)
    toy.inputs["x"] = TEXT
    toy.run(*ROOTS)
    db = toy.begin()
    toy.path.write_bytes(toy.path.read_bytes().replace(b"\xa3xxx", b"\xa3xyx"))
    assert [query(db, *args) for query, *args in ROOTS] == right[TEXT]
    assert len(toy.warned) == 1
