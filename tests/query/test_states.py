"""What runs in each state of a memo: the truth table of the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from gradmill.query.database import Database
from gradmill.query.explain import changes
from gradmill.query.memo import INPUT, ITEM, Dep, Input, is_table, row_of, row_of_query
from gradmill.query.query import Query, query, table
from tests.query.toy import Toy, total, words


@table
def parts(db: Database) -> dict[str, str]:
    """Words with their letters, or with anything else after a colon."""
    words = (db.input("text") or b"").decode().split()
    return {name: rest or name for name, _, rest in (word.partition(":") for word in words)}


@query
def part(db: Database, name: str) -> str:
    """One item, "-" if it is absent."""
    return parts.item(db, name) or "-"


@query
def names(db: Database) -> str:
    """The names alone."""
    return " ".join(db.names(parts))


@query
def whole(db: Database) -> int:
    """The table as a whole."""
    return len(parts(db))


@query
def size(db: Database) -> int:
    """A call whose value often stays equal."""
    return len(part(db, "a")) // 4


@query
def above(db: Database) -> str:
    """A call above that one."""
    return "x" * size(db)


QUERIES: tuple[Query[Any, Any], ...] = (parts, part, names, whole, size, above)


class Project(Toy):
    """A toy with these queries, whose runs are compared by what ran."""

    def ran(self, text: str, *roots: tuple[Any, ...]) -> list[str]:
        """What runs for `roots` after an edit."""
        self.inputs["text"] = text.encode()
        return self.run(*roots, db=self.open(*QUERIES))[1]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# What is requested, the text before, the text after, what runs.
STATES = [
    # never called; clean
    ((part, "a"), None, "a b", ["part(a)", "parts()"]),
    ((part, "a"), "a b", "a b", []),
    # the value of an item: equal, changed, deleted, absent, added
    ((part, "a"), "a b", "a b:c", ["parts()"]),
    ((part, "a"), "a b", "a:c b", ["part(a)", "parts()"]),
    ((part, "a"), "a b", "b", ["part(a)", "parts()"]),
    ((part, "c"), "a b", "a:d b", ["parts()"]),
    ((part, "c"), "a b", "a b c", ["part(c)", "parts()"]),
    # names: of the same order, of another, fewer, more
    ((names,), "a b", "a:c b", ["parts()"]),
    ((names,), "a b", "b a", ["names()", "parts()"]),
    ((names,), "a b", "a", ["names()", "parts()"]),
    ((names,), "a b", "a b c", ["names()", "parts()"]),
    # the table as a whole: equal, changed
    ((whole,), "a b", "a  b", ["parts()"]),
    ((whole,), "a b", "a b:c", ["parts()", "whole()"]),
    # a value that becomes equal again: what is above stays valid
    ((above,), "a", "a:ab", ["part(a)", "parts()", "size()"]),
    ((above,), "a", "a:abcde", ["above()", "part(a)", "parts()", "size()"]),
]


@pytest.mark.parametrize(("root", "before", "after", "ran"), STATES)
@pytest.mark.parametrize("many", [False, True], ids=["few items", "chunks"])
def test_what_runs(project: Project, root: Any, before: str | None, after: str, ran: list[str], *, many: bool) -> None:
    more = "".join(f" more{n}" for n in range(90 if many else 0))
    if before is not None:
        project.ran(before + more, root)
    assert project.ran(after + more, root) == ran


@pytest.mark.parametrize(("root", "before", "after", "ran"), STATES)
def test_a_past_memo_that_is_valid_again_runs_nothing(
    project: Project, root: Any, before: str | None, after: str, ran: list[str]
) -> None:
    project.ran(before or "", root)
    project.ran(after, root)
    assert project.ran(before or "", root) == []
    assert project.ran(after, root) == []
    assert project.warned == []


@pytest.mark.parametrize("edits", [1, 2, 3])
def test_what_was_not_requested_is_verified_later(project: Project, edits: int) -> None:
    """A row that is dirty stays so through revisions that do not request it, whatever they change."""
    project.ran("a b", (above,), (part, "b"))
    for n in range(edits):
        project.ran(f"a:abcd{n} b", (part, "b"))
    assert project.ran("a:abcdefgh b", (above,)) == ["above()", "part(a)", "parts()", "size()"]


def test_a_dirty_row_that_returns_to_its_value_is_clean_again(project: Project) -> None:
    project.ran("a b", (above,))
    project.ran("a:c b", (names,))
    assert project.ran("a b", (above,)) == []


def test_a_table_has_another_number_than_a_query_of_its_name() -> None:
    rows = row_of((parts.name,), table=True), row_of((parts.name,))
    assert [is_table(row) for row in rows] == [True, False]
    assert (row_of_query(parts, ()), row_of_query(Query(parts.function), ())) == rows


@pytest.mark.parametrize("requested", [False, True])
def test_a_call_is_valid_if_it_need_not_run(project: Project, *, requested: bool) -> None:
    project.ran("a b", (above,))
    project.inputs["text"] = b"a:c b"
    db = project.begin(project.open(*QUERIES))
    assert not db.is_clean(above)
    if requested:
        above(db)
    assert db.is_valid(part, "a") is requested
    assert db.is_valid(above)
    assert (above.name,) not in db.ran


def test_dirty_dependencies_are_known_by_name(project: Project) -> None:
    project.ran("a b", (above,), (names,))
    project.inputs["text"] = b"a:c b"
    db = project.begin(project.open(*QUERIES))
    assert db.dirty_deps(above) == [(size.name,)]
    assert db.dirty_deps(part, "a") == [(ITEM,)]
    assert db.dirty_deps(names) == []
    db.commit()
    db = project.begin(project.open(*QUERIES))
    assert db.dirty_deps(above) is None  # dirty since an earlier revision


def test_explain_compares_with_the_first_revision_until_told_otherwise(project: Project) -> None:
    db = project.open(*QUERIES)
    project.inputs["text"] = b"a b"
    project.run((part, "a"), (part, "b"), db=db)
    assert changes(db, (part.name, "a")) is None  # it was never called before
    db.compare_from_here()
    for text in (b"a:c b", b"a:c b:d", b"a:e b"):
        project.inputs["text"] = text
        db.begin({label: Input(data) for label, data in project.inputs.items()})
        assert len(part(db, "a") + part(db, "b")) == 2
        db.commit()
    assert changes(db, (part.name, "a")) == [(ITEM, parts.name, "a")]
    assert changes(db, (part.name, "b")) == []  # it is as it was
    assert changes(db, (parts.name,)) == [(INPUT, "text")]


@pytest.mark.parametrize("name", ["*", "\0", "True", ""])
def test_an_item_with_any_name_is_not_the_names(project: Project, name: str) -> None:
    project.ran(f"{name}:x b", (part, name), (names,))
    assert project.ran(f"{name}:y b", (part, name), (names,)) == [f"part({name})", "parts()"]
    assert project.ran(f"{name}:y b c", (part, name), (names,)) == ["names()", "parts()"]


def test_revisions_are_invalidated_by_the_one_before(project: Project) -> None:
    """A table that returns to the value that changes are compared with differs from the revision before."""
    db = project.open(*QUERIES)
    for text, value in (("a b", "a"), ("a:c b", "c"), ("a b", "a"), ("a:c b", "c")):
        project.inputs["text"] = text.encode()
        db.begin({label: Input(data) for label, data in project.inputs.items()})
        assert part(db, "a") == value
        db.commit()


def test_an_input_that_is_still_absent_makes_a_past_memo_valid(project: Project) -> None:
    @query
    def either(db: Database) -> bytes:
        return db.input("absent") or db.input("text") or b""

    for text, ran in ((b"a", ["either()"]), (b"b", ["either()"]), (b"a", [])):
        project.inputs["text"] = text
        assert project.run((either,), db=project.open(either)) == ([text], ran)


def test_an_absent_item_of_a_table_that_no_longer_exists_is_not_valid(project: Project) -> None:
    @table
    def old(db: Database) -> dict[str, str]:
        return {"a": (db.input("text") or b"").decode()}

    @table
    def new(db: Database) -> dict[str, str]:
        return {"b": "there"}

    @query
    def reads(db: Database) -> str:
        return source.item(db, "b") or "-"

    project.inputs["text"] = b"a"
    source = old
    assert project.run((reads,), db=project.open(old, reads))[0] == ["-"]
    source, project.inputs["text"] = new, b"b"
    assert project.run((reads,), db=project.open(new, reads))[0] == ["there"]


@pytest.mark.parametrize("seed", range(6))  # for other numbers of rows
def test_tables_are_verified_in_the_order_of_what_they_depend_on(tmp_path: Path, seed: int) -> None:
    """Each runs once: none sees what a lower one returned before."""
    runs: list[str] = []

    def level(n: int) -> Query[Any, Any]:
        def function(db: Database) -> dict[str, str]:
            runs.append(str(n))
            text = (db.input("text") or b"").decode() if n % 2 == 0 else ""
            below = chain[n - 1].item(db, "a") if n else ""
            return {"a": f"{below}{text}{n}", "b": "equal"}

        function.__name__ = f"level{n}_{seed}"
        return table(function)

    chain: list[Any] = []
    for n in range(8):
        chain.append(level(n))
    toy = Toy(tmp_path)
    for text in (b"a", b"b", b"c"):
        toy.inputs["text"] = text
        runs.clear()
        assert toy.run((chain[-1],), db=toy.open(*chain))[0] == [
            {"a": "".join(f"{text.decode() if n % 2 == 0 else ''}{n}" for n in range(8)), "b": "equal"}
        ]
        assert sorted(runs) == sorted(set(runs)) == [str(n) for n in range(8)]


def test_values_beyond_the_budget_leave_memory(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.room, toy.inputs["x"] = 1, b"".join(b"w%d: x\n" % n for n in range(100))
    db = toy.begin()
    assert total(db, "x") == 100
    assert sum(call.value is not UNSET for call in db._by_row.values()) <= 2


def test_what_a_query_read_before_is_looked_up_at_once(tmp_path: Path) -> None:
    toy, text = Toy(tmp_path), b"".join(b"w%d: x\n" % n for n in range(300))
    toy.inputs["x"] = text
    toy.run((total, "x"))
    toy.inputs["x"] = text + b"last: x\n"
    db = toy.begin()
    statements: list[str] = []
    toy.store._connection.set_trace_callback(statements.append)
    assert total(db, "x") == 301
    assert len([each for each in statements if each.startswith("SELECT")]) < 30


def test_a_past_memo_is_compared_first_where_the_last_one_differs(tmp_path: Path) -> None:
    toy, text = Toy(tmp_path), b"".join(b"w%d: x\n" % n for n in range(300))
    for meaning in (b"x", b"xx", b"xxx"):
        toy.inputs["x"] = text + b"last: " + meaning
        toy.run((total, "x"))
    toy.inputs["x"] = text + b"last: xxxx"
    db, compared = toy.begin(), list[Dep]()
    now = db._digest_now
    db._digest_now = lambda dep: compared.append(dep) or now(dep)  # type: ignore[func-returns-value, method-assign]
    assert total(db, "x") == 304
    assert len(compared) < 30


def test_only_verified_dependencies_are_a_reason(tmp_path: Path) -> None:
    """A word is deleted: its length is not requested any more, and is no reason for the total."""
    toy = Toy(tmp_path)
    toy.inputs["x"] = b"a: one\nb: two\n"
    toy.run((total, "x"))
    toy.inputs["x"] = b"a: one\n"
    db = toy.begin()
    total(db, "x")
    assert changes(db, (total.name, "x")) == [(ITEM, words.name, "x", True)]
