"""What runs, and what does not."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from gradmill.query.database import Database
from gradmill.query.engine import Cycle
from gradmill.query.explain import changed_items, changes
from gradmill.query.memo import INPUT, ITEM, NAMES, digest, encode
from gradmill.query.query import Parts, Table, query, table, unkept
from gradmill.query.table import load_items, make_items
from tests.query.toy import Toy, diagnostics, length, page, summary, total, words

TEXT = b"a: one\nb: three\nc: =a\n"


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path)
    toy.inputs["x"] = TEXT
    return toy


def test_a_query_that_is_not_found_by_name_is_refused(toy: Toy) -> None:
    """Its rows would be dropped in the next round, and what reads them would be taken to hold."""

    @query
    def lonely(db: Database, file: str) -> int:
        return total(db, file)

    with pytest.raises(TypeError, match="test_engine:lonely is not found by its name"):
        toy.run((lonely, "x"))
    assert toy.run((lonely, "x"), db=toy.open(lonely))[0] == [11]


def test_a_name_of_two_queries_is_refused(toy: Toy) -> None:
    def renamed(module: str) -> Any:
        def length(db: Database, file: str) -> int:
            return total(db, file)

        length.__module__ = module
        return query(length)

    other, same = renamed("elsewhere.toy"), renamed("tests.query.toy")
    assert length.name == "tests.query.toy:length"
    assert toy.run((other, "x"), db=toy.open(other))[0] == [11]
    with pytest.raises(TypeError, match="toy:length is the name of two queries"):
        toy.run((same, "x"))


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("count", [3, 90])  # words: such as stand in one place, and such as are in chunks
def test_without_room_for_values_runs_the_same(tmp_path: Path, count: int, *, stays: bool) -> None:
    chance = random.Random(count)
    ample, cramped = Toy(tmp_path / "ample"), Toy(tmp_path / "cramped")
    cramped.room = 1
    kept = [toy.open() if stays else None for toy in (ample, cramped)]
    lines = {f"w{i}": "x" * i for i in range(count)}
    for _ in range(12):
        lines[f"w{chance.randrange(count + 2)}"] = chance.choice(["y", "zz", f"=w{chance.randrange(count)}x", ""])
        text = "".join(f"{name}: {meaning}\n" for name, meaning in lines.items()).encode()
        actual = []
        for toy, db in zip((ample, cramped), kept):
            toy.inputs["x"] = text
            actual.append(toy.run((summary, "x"), (page, "x"), (words, "x"), db=db))
        assert actual[0] == actual[1]


def test_bytes_in_parts_are_the_same_however_they_are_cut(toy: Toy) -> None:
    """Nothing is kept of them but the digest of the whole; who wants to see them runs the query."""

    @unkept
    def printed(db: Database, file: str) -> Parts:
        text, place = page(db, file).encode(), len(db.input(file) or b"") % 7
        return Parts([text[:place], text[place:]])

    @query
    def size(db: Database, file: str) -> tuple[int, bytes]:
        return printed(db, file).size, printed(db, file).digest

    whole = b"a 3\nb 5\nc 3\n"
    assert toy.run((size, "x"), db=toy.open(printed, size))[0] == [(len(whole), digest(whole))]
    toy.inputs["x"] = b"a: two\nb: eight\nc: =a\n"
    ran = ["length(x, a)", "length(x, b)", "printed(x)", "words(x)"]
    assert toy.run((size, "x"), db=toy.open(printed, size))[1] == ran
    db = toy.begin(toy.open(printed, size))
    assert b"".join(printed(db, "x")) == whole


def test_a_value_beyond_the_memory_budget_is_assembled_once_by_its_first_reader(tmp_path: Path) -> None:
    assembled = []

    @unkept
    def printed(db: Database, file: str) -> Parts:
        assembled.append(file)
        return Parts([page(db, file).encode()])

    @query
    def size(db: Database, file: str) -> int:
        return printed(db, file).size

    toy = Toy(tmp_path)
    toy.room = 1
    db = toy.begin(toy.open(printed, size))
    whole = printed(db, "x")
    assert size(db, "x") == whole.size
    assert assembled == ["x"]


def test_traces_are_bounded(toy: Toy) -> None:
    for n in range(30):
        toy.inputs["x"] = b"a: " + b"o" * n
        toy.run((summary, "x"))
    db = toy.begin()
    assert len(toy.store.past(db.call(total, ("x",)).row)) == 7


def test_problems_are_reported_on_every_round(toy: Toy) -> None:
    toy.inputs["x"] = b"a: one\nodd\nb: =q\n"
    for _ in range(2):
        db = toy.begin()
        assert total(db, "x") == 3
        assert sorted(diagnostics(db, (total, "x"))) == ["no such word: q", "x: no meaning: odd"]
        db.commit()


def test_problems_of_what_is_no_longer_requested_are_not_reported(toy: Toy) -> None:
    toy.inputs["x"] = b"a: one\nb: =q\n"
    toy.run((total, "x"))
    toy.inputs["x"] = b"a: one\n"
    db = toy.begin()
    total(db, "x")
    assert diagnostics(db, (total, "x")) == []


def test_a_query_that_needs_itself_is_refused(toy: Toy) -> None:
    toy.inputs["x"] = b"a: =b\nb: =a\n"
    db = toy.begin()
    with pytest.raises(Cycle):
        total(db, "x")
    db.commit()
    toy.inputs["x"] = b"a: =b\nb: 12\n"
    assert toy.run((total, "x"))[0] == [4]


def test_a_round_that_asks_for_less_costs_what_it_asks_for(toy: Toy) -> None:
    toy.inputs["y"] = TEXT
    toy.run((summary, "x"), (summary, "y"))
    toy.inputs["x"] = b"a: one\nb: three\nc: nineteen\n"
    toy.run((summary, "y"))
    toy.inputs["y"] = b"a: one\nb: four\nc: =a\n"
    db = toy.begin()
    assert summary(db, "y") == "short"
    looked_at = {name[1] for name in db._by_name if name[0] in (length.name, total.name, summary.name)}
    db.commit()
    assert looked_at == {"y"}
    assert toy.run((total, "x")) == ([16], ["length(x, c)", "total(x)"])
    assert toy.run((summary, "x"), (summary, "y")) == (["long", "short"], ["summary(x)"])


def fresh(toy: Toy) -> Toy:
    other = Toy(toy.path.parent.parent / f"fresh{random.random()}")
    other.inputs = dict(toy.inputs)
    return other


def test_of_two_processes_at_once_both_are_right(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradmill.store.sqlite._WAIT", 0.1)
    toy.run((summary, "x"))
    toy.inputs["x"] = b"a: o\n"
    first = toy.begin()
    assert total(first, "x") == 1
    toy.inputs["x"] = b"a: ooooo\n"
    second = toy.begin()
    assert total(second, "x") == 5
    assert second.commit()
    assert page(first, "x") == "a 1\n"
    assert not first.commit()
    assert toy.run((total, "x")) == ([5], [])
    toy.inputs["x"] = b"a: o\n"
    assert toy.run((total, "x"))[0] == [1]


def test_a_process_that_stays_sees_what_another_wrote(toy: Toy) -> None:
    db = toy.open()
    toy.run((total, "x"), db=db)
    toy.inputs["x"] = b"a: o\n"
    toy.run((total, "x"))
    assert toy.run((total, "x"), db=db) == ([1], [])


@pytest.mark.parametrize("is_new", [True, False])
def test_a_flush_in_mid_round_changes_nothing(toy: Toy, monkeypatch: pytest.MonkeyPatch, is_new: bool) -> None:
    monkeypatch.setattr("gradmill.store.sqlite._HELD", 1)
    if not is_new:
        toy.run((total, "x"))
    toy.inputs["x"] = b"".join(b"w%d: %d\n" % (n, 10**n) for n in range(60))  # more than a memo or an outline takes
    db = toy.begin()
    assert total(db, "x") == sum(range(1, 61))
    assert not toy.store._held and len(toy.store._all("SELECT key FROM contents")) > 2
    assert page(db, "x") == "".join(f"w{n} {n + 1}\n" for n in range(60))
    assert words(db, "x") == {f"w{n}": str(10**n) for n in range(60)}
    db.commit()
    assert toy.run((total, "x"), (page, "x"), (words, "x"))[1] == []


def test_a_round_with_many_values_is_kept(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than SQLite keeps in its log by itself, in a store that exists."""
    monkeypatch.setattr("gradmill.store.sqlite._HELD", 100_000)
    toy.run((total, "x"))
    store = toy.path.stat().st_ino
    toy.inputs["x"] = b"".join(b"w%d: %s\n" % (n, b"%d" % n * 2_000) for n in range(1_000))
    db = toy.begin()
    total(db, "x")
    assert db.commit()
    db.close()
    assert toy.path.stat().st_ino == store
    assert toy.run((total, "x"))[1] == []


def test_values_of_a_process_that_commits_nothing_change_no_row(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in the file, and no memo has them."""
    monkeypatch.setattr("gradmill.store.sqlite._HELD", 1)
    toy.run((total, "x"))
    toy.inputs["x"] = b"".join(b"w%d: %d\n" % (n, 10**n) for n in range(60))
    db = toy.begin()
    assert total(db, "x") == sum(range(1, 61))
    db.close()
    toy.inputs["x"] = TEXT
    assert toy.run((total, "x")) == ([11], [])
    assert toy.warned == []


def test_a_process_that_stays_goes_on_after_a_round_that_was_not_kept(toy: Toy) -> None:
    db = toy.open()
    toy.run((total, "x"), (page, "x"), db=db)
    toy.inputs["x"] = b"a: o\n"
    page(toy.begin(db), "x")
    toy.inputs["x"] = b"a: one\nb: o\n"
    assert toy.run((total, "x"), (page, "x"), db=db)[0] == [4, "a 3\nb 1\n"]
    toy.inputs["x"] = TEXT
    assert toy.run((total, "x"), db=db) == ([11], [])


def test_a_query_may_become_a_table_and_the_reverse(toy: Toy) -> None:
    def thing(db: Database, file: str) -> dict[str, int]:
        return {word: length(db, file, word) for word in db.names(words, file)}

    def first(db: Database, file: str) -> int:
        result = kind.item(db, file, "a") if isinstance(kind, Table) else kind(db, file)["a"]
        return result or 0

    for make, text in [(query, TEXT), (table, TEXT), (query, b"a: o\n"), (table, b"a: ooooo\n"), (table, b"a: oo\n")]:
        kind, reader = make(thing), query(first)
        toy.inputs["x"] = text
        db = toy.begin(toy.open(kind, reader))
        assert reader(db, "x") == len(text.split(b"\n")[0]) - 3
        db.commit()


def test_a_row_that_read_a_missing_item_is_valid_in_a_store_that_is_verified(toy: Toy) -> None:
    toy.run((length, "x", "q"))
    toy.noted = None
    assert toy.run((length, "x", "q")) == ([0], [])


@pytest.mark.parametrize("noted", [True, False])
def test_why_a_row_was_replaced_is_known_in_a_store_that_is_verified_too(toy: Toy, *, noted: bool) -> None:
    toy.run((page, "x"))
    if not noted:
        toy.noted = None
    toy.inputs["x"] = b"a: seven\nb: three\nd: new\n"
    db = toy.begin()
    assert page(db, "x") == "a 5\nb 5\nd 3\n"
    assert changes(db, (length.name, "x", "a")) == [(ITEM, words.name, "x", "a")]
    assert changes(db, (length.name, "x", "b")) == []
    assert changes(db, (length.name, "x", "d")) is None
    assert changes(db, (words.name, "x")) == [(INPUT, "x")]
    assert (ITEM, words.name, "x", NAMES) in (changes(db, (page.name, "x")) or ())
    assert changed_items(db, words, "x") == {"a": "changed", "d": "added", "c": "deleted"}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_lost_in_a_round_is_made_again(toy: Toy, seed: int) -> None:
    chance = random.Random(seed)
    toy.run((summary, "x"), (page, "x"))
    db = toy.begin()
    os.truncate(toy.path, chance.randrange(toy.path.stat().st_size))
    assert (total(db, "x"), page(db, "x"), words(db, "x")["b"]) == (11, "a 3\nb 5\nc 3\n", "three")
    assert diagnostics(db, (total, "x"), (words, "x")) == []


def test_what_is_damaged_is_reported_once(toy: Toy) -> None:
    toy.inputs["y"] = many = b"".join(b"word%d: %d\n" % (i, i) for i in range(100))
    toy.run((summary, "x"), (summary, "y"))
    os.truncate(toy.path, toy.path.stat().st_size - 1)
    for n in range(3):
        toy.inputs["y"] = many + b"more: %d\n" % n
        assert toy.run((summary, "x"))[0] == ["long"]
        assert len(toy.warned) == 1
    assert toy.run((total, "y"))[0] == Toy.run(fresh(toy), (total, "y"))[0]


def test_a_store_that_cannot_be_written_costs_time_only(toy: Toy) -> None:
    toy.path.parent.parent.joinpath("cache").write_text("a file")
    assert toy.run((total, "x"))[0] == [11]
    assert toy.run((total, "x"))[0] == [11]


@pytest.mark.parametrize("seed", range(24))
def test_chains_of_edits_give_what_a_first_round_gives(toy: Toy, seed: int) -> None:
    chance = random.Random(seed)
    db = toy.open() if seed % 2 else None
    for _ in range(25):
        message = ["=w" + str(chance.randrange(i)) if i and chance.random() < 0.3 else "y" * i for i in range(8)]
        lines = [f"w{i}: {what}" for i, what in enumerate(message)]
        for file in ("x", "y"):
            if chance.random() < 0.6:
                kept = [line for line in lines if chance.random() < 0.8]
                toy.inputs[file] = "\n".join(kept).encode()
        queries = [(q, f) for q in (total, page, summary, words) for f in ("x", "y") if chance.random() < 0.4]
        queries += [(length, "x", f"w{chance.randrange(8)}")]
        assert toy.run(*queries, db=db)[0] == Toy.run(fresh(toy), *queries)[0]
        if chance.random() < 0.2 and db is None:
            os.utime(toy.path)


@table
def middle(db: Database, level: int) -> dict[str, str]:
    """A word of the file y, by way of so many tables."""
    word = words.item(db, "y", "w") if level == 0 else middle.item(db, level - 1, "w")
    return {"w": word or ""}


@table
def early(db: Database) -> dict[str, str]:
    """The same word, if the file x says so."""
    return {"w": middle.item(db, 3, "w") or ""} if words.item(db, "x", "go") else {}


DEEP = 30


@table
def gathered(db: Database) -> dict[str, str]:
    """The same word from every level, if the file x says so."""
    levels = range(DEEP) if words.item(db, "x", "go") else ()
    return {str(level): middle.item(db, level, "w") or "" for level in levels}


@table
def beside(db: Database, level: int) -> dict[str, str]:
    """Looks at both, so that the larger table is verified after each level."""
    gathered_too = words.item(db, "x", "go") and gathered.item(db, str(level))
    return {"w": f"{middle.item(db, level, 'w')} {gathered_too}"}


def test_a_table_may_turn_out_to_be_dirty_many_times_in_a_revision(toy: Toy) -> None:
    def seen() -> list[str | None]:
        db = toy.begin(toy.open(middle, gathered, beside))
        values = [beside.item(db, level, "w") for level in range(DEEP)]
        assert db.commit()
        db.close()
        return values

    toy.inputs |= {"x": b"", "y": b"w: 1"}
    assert set(seen()) == {"1 None"}
    toy.inputs |= {"x": b"go: 1", "y": b"w: 2"}
    assert set(seen()) == {"2 2"}
    assert not toy.warned


def test_readers_of_a_table_that_ran_twice_in_a_revision_are_known_later(toy: Toy) -> None:
    def seen() -> str | None:
        db = toy.begin(toy.open(middle, early))
        db.get(middle, (3,))
        value: str | None = early.item(db, "w")
        assert db.commit()
        db.close()
        return value

    toy.inputs |= {"x": b"", "y": b"w: 1"}
    assert seen() is None
    toy.inputs |= {"x": b"go: 1", "y": b"w: 2"}  # `early` runs before what it newly reads is found to have changed
    assert seen() == "2"
    toy.inputs["y"] = b"w: 3"
    assert seen() == "3"


def test_an_edited_item_stores_its_own_neighbours_and_one_large_item_at_most() -> None:
    stored: dict[bytes, bytes] = {}

    def stores(values: dict[str, str]) -> int:
        """The bytes of parts that are stored for the first time. What is stored has each item, and all in order."""
        known = set(stored)
        outline = make_items(values, stored.__setitem__, stored.__getitem__).outline
        items = load_items(encode(outline), stored.__getitem__)
        entries = {name: items.get(name) for name in values}
        assert {name: entry and entry.value for name, entry in entries.items()} == {
            n: encode(v) for n, v in values.items()
        }
        assert items.get("missing") is None and items.names() == list(values)
        return sum(len(data) for key, data in stored.items() if key not in known)

    values = {f"{i:03}": "x" * (40_000 if i % 7 == 3 else 10) for i in range(200)}
    assert stores(values) > 40_000 and stores(values) == 0
    assert 40_000 < stores(values | {"005": "y"}) < 41_000
    assert stores(values | {"001": "y"}) < 1_000  # before the first large one
    assert 40_000 < stores(values | {"003": "z" * 40_000}) < 41_000
    assert stores(values | {"003": ""}) < 2_000  # now it shares a chunk with those before it
    assert stores({name: text for name, text in values.items() if name != "010"}) < 43_000
