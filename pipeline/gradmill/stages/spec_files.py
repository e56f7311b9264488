"""Single spec files: the text, its name in problems, the names of entries. Part of the stage `specs`."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Raw

from gradmill.model.keys import ENTRY_KEY
from gradmill.model.layers import role_of
from gradmill.problems.problem import Problem, Role, SpecError, TextError
from gradmill.query.database import Database
from gradmill.query.query import unkept
from gradmill.specs.entries import read_text
from gradmill.stages.set import spec_label, unreadable

T = TypeVar("T")

Named = tuple[str, Raw]  # an entry's name, its value
Chosen = tuple[int, str, Raw]  # the place of an entry in its group, its name, its value


def is_layered(key: str) -> bool:
    """Whether a file is one of a set of layers."""
    return ":" in key


@unkept
def text(db: Database, key: str) -> str | None:
    """The text of a spec file; None, with a report, if it cannot be read."""
    data = db.input(spec_label(key))
    try:
        if data is None:
            why = unreadable(db).get(spec_label(key), "it is missing")
            raise TextError(f"cannot be read: {why}", "", 0, 0)  # no line is wrong
        return read_text(data)
    except SpecError as error:
        db.report(of_file(key, error))
        return None


def parse_file(db: Database, key: str, parse: Callable[[str], T]) -> T | None:
    """What `parse` makes of the text of a file; None, with a report, if it cannot be read or is invalid."""
    whole = text(db, key)
    if whole is None:
        return None
    try:
        return parse(whole)
    except SpecError as error:
        for each in (error, *error.others):
            db.report(of_file(key, each))
        return None


def name_of(value: bytes, role: Role) -> str:
    """The name of an entry: its operator with overload, without arguments; or its tag. "?" if it has none."""
    entry = msgspec.msgpack.decode(value)
    name = entry.get(ENTRY_KEY[role]) if isinstance(entry, dict) else None
    return name.partition("(")[0].strip() or "?" if isinstance(name, str) and "\0" not in name else "?"


def of_file(key: str, error: SpecError) -> Problem:
    """The problem for an error in a file, at its line or as a whole. The role identifies a plain set's file."""
    line, column = (error.line, error.column) if isinstance(error, TextError) else (1, 1)
    role, file = role_of(key), key if is_layered(key) else ""
    return Problem(role, "", "", error.problem, error.hint, line=line, column=column, file=file, rule=error.rule)
