"""A program of five queries: words in files, their lengths, totals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradmill.io.files import Stat, stat_of
from gradmill.query.database import Database
from gradmill.query.memo import Input
from gradmill.query.query import Query, query, table, unkept
from gradmill.store.sqlite import SqliteStore


@table
def words(db: Database, file: str) -> dict[str, str]:
    """The words of a file: name, colon, meaning."""
    text = (db.input(file) or b"").decode()
    result = {}
    for line in text.split("\n"):
        name, colon, meaning = line.partition(":")
        if colon:
            result[name] = meaning.strip()
        elif line:
            db.report(f"{file}: no meaning: {line}")
    return result


@query
def length(db: Database, file: str, word: str) -> int:
    """How long the meaning of a word is; a word may stand for another."""
    meaning = words.item(db, file, word)
    if meaning is None:
        db.report(f"no such word: {word}")
        return 0
    return length(db, file, meaning[1:]) if meaning.startswith("=") else len(meaning)


@query
def total(db: Database, file: str) -> int:
    """The lengths of all words."""
    return sum(length(db, file, word) for word in db.names(words, file))


@unkept
def page(db: Database, file: str) -> str:
    """All words and their lengths."""
    return "".join(f"{word} {length(db, file, word)}\n" for word in db.names(words, file))


@query
def summary(db: Database, file: str) -> str:
    """One line."""
    n = total(db, file)
    return "long" if n > 10 else "short"


QUERIES: dict[str, Query[Any, Any]] = {q.name: q for q in (words, length, total, page, summary)}


class Toy:
    """A store, and rounds over it; every round is a process of its own unless `stay` is given."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cache" / "rows"
        self.inputs: dict[str, bytes] = {}
        self.warned: list[str] = []
        self.noted: Stat | None = None  # of the store after the last round, as a run's record has it
        self.room = 0  # bytes of values that stay in memory; 0: as many as a round is worth

    def open(self, *more: Query[Any, Any]) -> Database:
        """A database that has `more` queries, too."""
        known = {**QUERIES, **{q.name: q for q in more}}
        self.store = SqliteStore(str(self.path), self.noted)
        return Database(self.store, known.get, self.room, self.warned.append)

    def begin(self, db: Database | None = None) -> Database:
        db = db or self.open()
        db.begin({label: Input(data) for label, data in self.inputs.items()})
        return db

    def run(self, *roots: tuple[Any, ...], db: Database | None = None) -> tuple[list[Any], list[str]]:
        """The values of queries, and what ran for them; a database that was opened for it is closed."""
        arguments, db = db, self.begin(db)
        values = [q(db, *args) for q, *args in roots]
        ran = sorted(f"{name[0].rpartition(':')[2]}({', '.join(map(str, name[1:]))})" for name in db.ran)
        db.commit()
        if arguments is None:
            db.close()
            self.noted = stat_of(str(self.path))
        return values, ran


def diagnostics(db: Database, *roots: tuple[Any, ...]) -> list[str]:
    """What the calls reported that roots depend on."""
    return [diagnostic for _, diagnostic in db.reports(roots, str)]
