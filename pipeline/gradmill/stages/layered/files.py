"""Single spec files: the text, after diffs, and its entries, their names, its errors. Part of the stage `specs`."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gradmill.model.keys import ENTRY_KEY
from gradmill.model.layers import role_of
from gradmill.problems.problem import Problem, Role, SpecError, TextError
from gradmill.query.database import Database
from gradmill.query.query import unkept
from gradmill.specs.entries import Piece, cut, parse_whole, read_text
from gradmill.specs.layers.diff import Line, apply, lines_of
from gradmill.specs.layers.lists import check_lists, cut_lists, value_of, values_of, whole_lists
from gradmill.stages.set import place_of_key, source, spec_label, unreadable

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


# ---- files of entries


@unkept
def changed(db: Database, key: str) -> list[Line] | None:
    """The lines of a file after its diffs, each with its origin; None if it cannot be read."""
    rules, lines = source(db, key), parse_file(db, key, lines_of)
    for number, diff in enumerate(rules.diffs, 1):
        if lines is not None:
            after = parse_file(db, diff, partial(apply, lines, number=number, name=rules.file))
            lines = lines if after is None else after  # it may have none left
    return lines


def current_text(db: Database, key: str) -> str | None:
    """The text that the lines of a file's entries refer to, after its diffs; None if it cannot be read."""
    rules = source(db, key)
    return described_text(db, key) if rules.diffs or rules.lists else text(db, key)


@unkept
def described_text(db: Database, key: str) -> str | None:
    """The same of a file to which a description gives diffs, or the lists that have its entries."""
    rules = source(db, key)
    if rules.diffs:
        lines = changed(db, key)
        return None if lines is None else "\n".join(line.text for line in lines)
    missing = parse_file(db, key, partial(check_lists, lists=rules.lists))
    for name, hint in missing or ():
        message = (f"the file has no list '{name}'", hint, place_of_key(db, (*rules.at, "list")), name)
        db.report(Problem("set", "", "", *message, warning=True, rule="unmatched-list"))
    return None if missing is None else text(db, key)


@unkept
def cuts(db: Database, key: str) -> list[Piece]:
    """The entries of a file as text, with their lines; none if the text cannot be cut."""
    whole, lists = current_text(db, key), source(db, key).lists
    if whole is None:
        return []
    return (cut_lists(whole, lists) if lists else cut(whole)) or []


@unkept
def whole(db: Database, key: str) -> list[tuple[Piece, bytes]]:
    """The entries of a file as text and as values, all parsed at once; none if there is an error, which is reported."""
    return entries_in(db, key, source(db, key).lists)


def entries_in(db: Database, key: str, lists: tuple[str, ...]) -> list[tuple[Piece, bytes]]:
    """The same of some lists of a file, or of a file that is a list."""
    whole = current_text(db, key)
    if whole is None:
        return []
    try:
        return whole_lists(whole, lists, role_of(key)) if lists else parse_whole(whole, role_of(key))
    except SpecError as error:
        problem = of_file(key, error)
        if found := [] if lists or not is_layered(key) else _lists_in(whole):
            named = " or ".join(f'list = "{name}"' for name in found)
            problem = replace(problem, hint=f"name the key that has them in the description: {named}")
        db.report(problem)
        return []


def _lists_in(whole: str) -> list[str]:
    """The keys of a file that is a mapping which have lists of mappings."""
    found: list[str] = []
    with suppress(SpecError):
        for name in values_of(whole):
            value = value_of(whole, name)
            found += [name] if isinstance(value, list) and any(isinstance(each, dict) for each in value) else []
    return found
