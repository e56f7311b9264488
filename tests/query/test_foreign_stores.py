"""Stores that others have made, with right checksums: reading one ends, takes little, and raises no other error."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hostile_stores import ending
from msgspec import Raw

from pipeline.query.memo import INPUT, Dep, Memo, Row, StoreDamaged, digest, encode, row_of, row_of_query
from pipeline.query.query import Query
from pipeline.query.store import Changes, Readers, Snapshot
from pipeline.query.table import Entry, Outline
from pipeline.store import sqlite
from pipeline.store.collect import copy_live
from pipeline.store.sqlite import SqliteStore
from tests.query.toy import Toy, diagnostics, length, summary, total, words

TEXT = b"a: one\nb: four\nodd\n"
ROOTS = ((total, "x"), (summary, "x"), (words, "y"))
RIGHT = [7, "short", {}]
MANY = 30_000
NONE = Raw(encode([]))


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    with ending():
        yield


class Forged:
    """What a commit to a store of a toy is to add."""

    def __init__(self, toy: Toy) -> None:
        self.store = SqliteStore(str(toy.path))
        snapshot, _ = self.store.begin()
        self.inputs = dict(snapshot.inputs)
        self.memos: dict[Row, Memo] = {}
        self.readers = Readers()
        self.dirty: list[Row] = []
        self.reporting = [*snapshot.reporting]

    def add(
        self, query: Query[Any, Any], *args: Any, deps: tuple[Dep, ...] = (), report: Raw = NONE, value: object = 0
    ) -> Dep:
        """Adds a memo; a dependency on it that no longer holds."""
        row = row_of_query(query, args)
        data = encode(value)
        self.memos[row] = Memo((query.name, *args), digest(data), deps, report, 1, data)
        self.readers.add([dep for dep in deps if dep.row < 1 << 63], row)
        self.dirty.append(row)
        self.reporting += [row] if report != NONE else []
        return Dep(row, None, b"another digest")

    def commit(self) -> None:
        """Puts all of it into the store, which is not sealed then."""
        snapshot = Snapshot(self.inputs, tuple(self.dirty), tuple(self.reporting))
        assert self.store.commit(Changes(snapshot, self.memos, {}, self.readers))
        self.store.close()
        Path(f"{self.store.path}.seal").unlink()


def a_circle(forged: Forged) -> None:
    there = Dep(row_of_query(summary, ("x",)), None, b"another digest")
    back = forged.add(total, "x", deps=(there,))
    forged.add(summary, "x", deps=(back,))


def a_long_chain(forged: Forged) -> None:
    dep = forged.add(length, "x", "0")
    for n in range(1, 5_000):
        dep = forged.add(length, "x", str(n), deps=(dep,))
    forged.add(total, "x", deps=(dep,))


def a_name(*name: object) -> Callable[[Forged], None]:
    """A dependency on a call with another name."""

    def change(forged: Forged) -> None:
        row = row_of(name)
        forged.memos[row] = Memo(name, b"", (), NONE, 1, encode(0))
        forged.dirty.append(row)
        forged.add(total, "x", deps=(Dep(row, None, b"another digest"),))

    return change


def a_report_of_another_type(forged: Forged) -> None:
    forged.add(length, "x", "a", report=Raw(encode([[1], {"a": 2}])))
    forged.add(total, "x", deps=(Dep(row_of_query(length, ("x", "a")), None, b"another digest"),))


def no_list_of_reports(forged: Forged) -> None:
    forged.add(length, "x", "a", report=Raw(b"\x91" * 5_000 + b"\x90"))
    forged.add(total, "x", deps=(Dep(row_of_query(length, ("x", "a")), None, b"another digest"),))


def many_reports(forged: Forged) -> None:
    """Each of a memo's dependencies reports something: to look for each among all would take minutes."""
    deps = tuple(forged.add(length, "x", str(n), report=Raw(encode(["odd"]))) for n in range(MANY))
    forged.add(total, "x", deps=deps)
    forged.dirty.clear()


def tables_that_read_each_other(forged: Forged) -> None:
    for one, other in ("xy", "yx"):
        there = forged.add(words, one, deps=(Dep(row_of((INPUT, one)), None, b"another digest"),))
        forged.readers.add([there], row_of_query(words, (other,)))


def a_table_without_an_item(forged: Forged) -> None:
    names, chunk = encode([f"w{n}" for n in range(9)]), encode({"w0": Entry(b"", encode("a word"))})
    for data in (names, chunk):
        forged.store.put(digest(data), data)
    forged.add(words, "y", value=Outline(digest(names), ("w0",), (digest(chunk),)))
    forged.dirty.clear()


FORGED: dict[str, Callable[[Forged], None]] = {
    "a number that a query would count to": a_name("toy:length", "x", 10**15),
    "a name without a query": a_name(),
    "a name of a list": a_name(["toy:length"], "x"),
    "a name with a key": a_name("toy:length", "x", {"x": 1}),
    "a deep name": a_name("toy:length", Raw(b"\x91" * 5_000 + b"\x90")),
    "a row that SQLite does not know": lambda forged: void(forged.add(total, "x", deps=(Dep(1 << 63, None, b""),))),
    "a report of another type": a_report_of_another_type,
    "no list of reports": no_list_of_reports,
    "tables that read each other": tables_that_read_each_other,
    "a table without an item": a_table_without_an_item,
}
NOT_VERIFIED: dict[str, Callable[[Forged], None]] = {  # their queries run
    "a circle": a_circle,
    "a long chain": a_long_chain,
}
BELIEVED: dict[str, Callable[[Forged], None]] = {  # what nothing contradicts
    "many reports": many_reports,
    "dirty rows that do not exist": lambda forged: forged.dirty.extend([1, 3, 5, 1 << 62]),
}


def void(_: object) -> None:
    """For lambdas that return something."""


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": b""}
    toy.run(*ROOTS)
    return toy


def forge(toy: Toy, change: Callable[[Forged], None]) -> None:
    """Puts something into a toy's store that no run has committed."""
    forged = Forged(toy)
    change(forged)
    forged.commit()


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_store_is_discarded(toy: Toy, kind: str) -> None:
    forge(toy, FORGED[kind])
    db = toy.begin()
    assert diagnostics(db, (total, "x")) == ["x: no meaning: odd"]
    assert [query(db, *args) for query, *args in ROOTS] == RIGHT
    assert db.commit()
    assert len(toy.warned) == 1


@pytest.mark.parametrize("kind", NOT_VERIFIED)
def test_results_that_cannot_be_verified_are_not_believed(toy: Toy, kind: str) -> None:
    forge(toy, NOT_VERIFIED[kind])
    db = toy.begin()
    assert diagnostics(db, (total, "x")) == ["x: no meaning: odd"]
    assert [query(db, *args) for query, *args in ROOTS] == RIGHT
    assert db.commit()
    assert toy.warned == []


@pytest.mark.parametrize("kind", BELIEVED)
def test_a_store_that_may_be_right_is_read_in_time(toy: Toy, kind: str) -> None:
    forge(toy, BELIEVED[kind])
    db = toy.begin()
    assert len(diagnostics(db, (total, "x"))) == (MANY if kind == "many reports" else 1)
    assert [query(db, *args) for query, *args in ROOTS][1:] == RIGHT[1:]
    assert db.commit()
    assert toy.warned == []


# What garbage collection does not look at: it keeps these, and the next run discards or verifies them, as above.
COLLECTED = {*NOT_VERIFIED, *BELIEVED, "a report of another type", "a table without an item"}


@pytest.mark.parametrize("kind", {**FORGED, **NOT_VERIFIED, **BELIEVED})
def test_a_forged_store_is_collected_whole_or_damaged(toy: Toy, kind: str) -> None:
    forge(toy, {**FORGED, **NOT_VERIFIED, **BELIEVED}[kind])
    with (
        closing(SqliteStore(str(toy.path))) as old,
        closing(SqliteStore(f"{toy.path}.new")) as new,
        nullcontext() if kind in COLLECTED else pytest.raises(StoreDamaged),
    ):
        rows = copy_live(old, new, lambda name: True)
        assert rows is not None and rows[0] == rows[1] == len([*new.rows()]) > len(ROOTS)


def test_values_do_not_overlap(toy: Toy) -> None:
    """To take the digest of each of many that do would take days."""
    Path(f"{toy.path}.values").write_bytes(bytes(1_000_000))
    with closing(sqlite3.connect(toy.path)) as connection, connection:
        connection.execute("DELETE FROM places")
        for size in range(900_000, 900_100):
            key = int.from_bytes(digest(bytes(size))[:8], "big", signed=True)
            connection.execute("INSERT INTO places VALUES (?, ?)", (key, size))
    assert toy.run(*ROOTS)[0] == RIGHT
    assert len(toy.warned) == 1 and "its values are larger than it is" in toy.warned[0]


@pytest.mark.parametrize("steps", ["_STEPS_TO_OPEN", "_STEPS_PER_BYTE"])
def test_more_work_than_the_size_of_a_store_explains_is_not_done(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, steps: str
) -> None:
    Path(f"{toy.path}.seal").unlink()
    with monkeypatch.context() as few:
        few.setattr(sqlite, steps, 0)
        few.setattr(sqlite, "_PERIOD", 1)
        db = toy.begin()
    assert [query(db, *args) for query, *args in ROOTS] == RIGHT
    assert len(toy.warned) == 1 and "more work than its size explains" in toy.warned[0]
