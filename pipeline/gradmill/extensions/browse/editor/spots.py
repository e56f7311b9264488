"""Declarations of the word at the cursor: an operator's schema, its definition, a helper's header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from gradmill.extensions.browse.editor.cursor import NAMED, SCHEMAS, Cursor, line_with, match_at, operator_at
from gradmill.extensions.browse.editor.operators import name_of
from gradmill.extensions.browse.editor.outline import uncommented
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.reports.helpers import Helper, declared
from gradmill.rules.native.python_names import OUT

LINE = line_with("schema", "operator", "operators")


class Spot(Struct, frozen=True):
    """A piece of a line. Lines and columns count from 0."""

    path: str
    line: int
    start: int
    end: int


class Files(Struct, frozen=True):
    """The texts of a set's spec files and headers: paths and lines."""

    by_role: Mapping[Role, Sequence[tuple[str, Sequence[str]]]]
    headers: Mapping[str, tuple[str, Sequence[str]]] = {}  # by their names in the set
    keys: Mapping[str, str] = {}  # of spec files in the set, by path

    def keyed(self, role: Role) -> Iterator[tuple[str, str, Sequence[str]]]:
        """The files of a role: key, path, lines."""
        return ((self.keys.get(path, role), path, lines) for path, lines in self.by_role.get(role, ()))


def declarations(db: Database, cursor: Cursor, files: Files) -> list[Spot]:
    """The declarations of the word at the cursor: a helper's header, an argument's schema, an operator's entry in
    native_functions.yaml; for the call of a deprecated form, all functions of the name. In that file itself, the
    operator's definition in derivatives.yaml. Empty if no file of the set declares it."""
    if cursor.entry is None:
        return []
    op = name_of(operator_at(cursor)[0])
    own = cursor.entry.body.operator
    if cursor.role == "native":
        if cursor.is_in_operators:
            return schemas_of(files, op)
        return list(_entries(files, "derivatives", lambda name: name == own))
    if cursor.role == "deprecated":
        called = cursor.word[0].removesuffix(OUT)
        return list(_entries(files, "native", lambda name: name.partition(".")[0] == called))
    if cursor.role != "derivatives":
        return []
    if cursor.path == ("name",) or not cursor.path:
        return schemas_of(files, own)
    return _of_formula(db, cursor, files, own)


def _of_formula(db: Database, cursor: Cursor, files: Files, own: str) -> list[Spot]:
    word, _, end = cursor.word
    called = cursor.in_value and cursor.text[end : end + 1] == "("
    if called and (helpers := declared(db, word)):
        return [spot for helper in helpers for spot in _of_helper(helper, files)]
    argument = re.sub(r"_[tp]$", "", word)
    spots = schemas_of(files, own)
    present = [spot for name in dict.fromkeys((word, argument)) for spot in arguments_of(files, own, name)]
    return present[:1] or schemas_of(files, word) or ([] if called else spots)


def _of_helper(helper: Helper, files: Files) -> Iterator[Spot]:
    path, lines = files.headers.get(helper.header, ("", ()))
    match = re.search(rf"\b{helper.name}\b", lines[helper.line - 1]) if helper.line <= len(lines) else None
    if match is not None:
        yield Spot(path, helper.line - 1, match.start(), match.end())


def schemas_of(files: Files, name: str) -> list[Spot]:
    """The entries of native_functions.yaml for an operator: with exactly its overload, or else all overloads."""
    exact = list(_entries(files, "native", lambda other: other == name))
    return exact or list(_entries(files, "native", lambda other: other.partition(".")[0] == name))


def _entries(files: Files, role: Role, wanted: Callable[[str], bool]) -> Iterator[Spot]:
    for path, at, start, key, match in names_in(files, role):
        if key in SCHEMAS and wanted(name_of(match.group())):
            yield Spot(path, at, start + match.start(), start + match.end())


def arguments_of(files: Files, operator: str, name: str) -> list[Spot]:
    """The argument `name` in the schemas of an operator."""
    spots = (_argument(spot, files, name) for spot in schemas_of(files, operator))
    return [spot for spot in spots if spot is not None]


def _argument(spot: Spot, files: Files, name: str) -> Spot | None:
    lines = next(lines for path, lines in files.by_role["native"] if path == spot.path)
    match = re.compile(rf"[\s)]{re.escape(name)}(?=[=,)\s])").search(lines[spot.line], spot.end)
    return Spot(spot.path, spot.line, match.start() + 1, match.end()) if match is not None and name else None


def name_at(cursor: Cursor) -> re.Match[str] | None:
    """The operator's name at the cursor, with the groups of `names_in`; None in a formula and among arguments."""
    line = LINE.match(cursor.text)
    if line is None or cursor.column < line.end():
        return None
    if line[1] in SCHEMAS and cursor.column > cursor.text.find("(", line.end()) >= 0:
        return None
    return match_at(cursor.text, cursor.column, NAMED)


def base_of(name: str) -> str:
    """The name without the underscore of an in-place variant: `add` for `add_`."""
    return name.rstrip("_") if name.strip("_") else name


def names_in(files: Files, *roles: Role) -> Iterator[tuple[str, int, int, str, re.Match[str]]]:
    """All places of operators' names in the files of some roles, without those in formulas: path, line, column of the
    value, key, match. The groups of a match are the namespace, the name and the overload."""
    for path, lines in (each for role in roles for each in files.by_role.get(role, ())):
        for number, line in enumerate(lines):
            key = LINE.match(line)
            if key is None:
                continue
            text = uncommented(line[key.end() :])
            if key[1] in SCHEMAS:
                text = text.partition("(")[0]
            for match in NAMED.finditer(text):
                yield path, number, key.end(), key[1], match
