"""A query that fails: damage, a bug of the program, and one that only the results of earlier revisions meet differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradmill.query.database import Database
from gradmill.query.engine import IncrementalBug
from gradmill.query.query import Query, query, table, unkept
from gradmill.store.memory import MemoryStore
from gradmill.store.sqlite import SqliteStore, set_aside_of
from tests.query.toy import QUERIES, Toy, length, total, words

TEXT, EDITED = b"a: one\n", b"a: three\n"
ERRORS = [KeyError, TypeError, AssertionError, RecursionError, ZeroDivisionError, RuntimeError, UnicodeError, Exception]


class Refused(Exception):
    """What a query raises on purpose."""


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path)
    toy.inputs["x"] = TEXT
    return toy


def fails_if_warm(error: type[Exception]) -> Query[Any, Any]:
    """A query that fails whenever something is known of an earlier revision."""

    @query
    def fragile(db: Database, file: str) -> int:
        if db.is_warm:
            raise error("not found")
        return length(db, file, "a")

    return fragile


def fails_if_edited(error: type[Exception]) -> Query[Any, Any]:
    """A query that fails for a text."""

    @query
    def wrong(db: Database, file: str) -> int:
        if db.input(file) == EDITED:
            raise error("not found")
        return length(db, file, "a")

    return wrong


@pytest.mark.parametrize("error", ERRORS)
def test_what_fails_on_earlier_results_alone_is_a_bug_and_the_next_run_is_right(
    toy: Toy, error: type[Exception]
) -> None:
    fragile = fails_if_warm(error)
    assert toy.run((fragile, "x"), db=toy.open(fragile))[0] == [3]
    toy.inputs["x"] = EDITED
    with pytest.raises(IncrementalBug, match=error.__name__) as raised:
        toy.run((fragile, "x"), db=toy.open(fragile))
    cause = raised.value.__cause__
    assert type(cause) is error and cause.__traceback__ is not None
    assert not toy.path.exists() and set_aside_of(str(toy.path)) in str(raised.value)
    kept = SqliteStore(set_aside_of(str(toy.path)))
    assert "x" in kept.begin()[0].inputs  # with what led to it
    kept.close()
    assert toy.run((fragile, "x"), db=toy.open(fragile)) == ([5], ["fragile(x)", "length(x, a)", "words(x)"])
    assert toy.warned == []


@pytest.mark.parametrize("error", ERRORS)
def test_what_fails_on_an_empty_store_too_is_raised_as_it_is_and_the_store_is_kept(
    toy: Toy, error: type[Exception]
) -> None:
    wrong = fails_if_edited(error)

    @query
    def reader(db: Database, file: str) -> int:
        return int(wrong(db, file))

    toy.run((reader, "x"), (total, "x"), db=toy.open(wrong, reader))
    toy.inputs["x"] = EDITED
    db = toy.begin(toy.open(wrong, reader))
    assert not db.is_valid(reader, "x")
    with pytest.raises(error) as raised:
        reader(db, "x")
    assert type(raised.value) is error and raised.value.__context__ is None
    db.close()
    toy.inputs["x"] = TEXT
    assert toy.run((reader, "x"), (total, "x"), db=toy.open(wrong, reader)) == ([3, 3], [])
    assert toy.warned == []


def test_what_is_requested_next_in_the_same_process_is_right(toy: Toy) -> None:
    """Of a process that stays, whose results are in memory."""
    fragile = fails_if_warm(KeyError)
    for store in (None, MemoryStore("")):
        db = toy.open(fragile) if store is None else Database(store, {**QUERIES, fragile.name: fragile}.get)
        assert toy.run((fragile, "x"), db=db)[0] == [3]
        toy.inputs["x"] = EDITED
        toy.begin(db)
        with pytest.raises(IncrementalBug):
            fragile(db, "x")
        assert (fragile(db, "x"), total(db, "x")) == (5, 5)
        toy.inputs["x"] = TEXT


def test_a_table_that_fails_before_it_is_requested(toy: Toy) -> None:
    """Who begins a revision verifies all tables; those that nothing needs any more fail nobody."""

    @table
    def fragile(db: Database, file: str) -> dict[str, int]:
        if db.is_warm and db.input(file) == EDITED:
            raise KeyError("not found")
        return {"a": length(db, file, "a")}

    @query
    def reader(db: Database, file: str) -> int | None:
        return fragile.item(db, file, "a")

    roots = (reader, "x"), (total, "x")
    assert toy.run(*roots, db=toy.open(fragile, reader))[0] == [3, 3]
    toy.inputs["x"] = EDITED
    assert toy.run(roots[1], db=toy.open(fragile, reader))[0] == [5]
    with pytest.raises(IncrementalBug):
        toy.run(roots[0], db=toy.open(fragile, reader))
    assert toy.run(*roots, db=toy.open(fragile, reader))[0] == [5, 5]
    assert toy.warned == []


def test_an_impure_query_is_a_bug(toy: Toy) -> None:
    values = [b"first", b"second", b"second", b"second"]

    @unkept
    def impure(db: Database) -> bytes:
        return values.pop(0)

    assert toy.run((impure,), db=toy.open(impure))[0] == [b"first"]
    with pytest.raises(IncrementalBug) as raised:
        toy.run((impure,), db=toy.open(impure))
    assert f"the query {impure.name} is impure" in str(raised.value.__cause__)
    assert toy.run((impure,), db=toy.open(impure))[0] == [b"second"]
    assert toy.warned == []


@pytest.mark.parametrize("error", [Refused, OSError, MemoryError, KeyboardInterrupt])
def test_what_is_no_bug_is_raised_at_once(toy: Toy, error: type[Exception]) -> None:
    asked = []

    @query
    def refusing(db: Database, file: str) -> int:
        asked.append(file)
        if db.input(file) == EDITED:
            raise error
        return 1

    def opened() -> Database:
        known = {**QUERIES, refusing.name: refusing}
        return Database(SqliteStore(str(toy.path)), known.get, expected=(Refused,))

    toy.run((refusing, "x"), (words, "x"), db=opened())
    toy.inputs["x"] = EDITED
    with pytest.raises(error):
        toy.run((refusing, "x"), db=opened())
    assert len(asked) == 2 and toy.path.exists()
