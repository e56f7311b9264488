"""Renames an operator in all files of a set: its schemas, its definitions, and all references to it.

With the cursor on the name, all overloads and variants of the operator are renamed (`add`, `add_`, `add.out`, and
`add_copy` if that is the copy of a view), in formulas and deprecated forms too. With the cursor on an overload, only
that one is renamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword

from msgspec import Struct

from pipeline.cpp.identifiers import KEYWORDS
from pipeline.problems.problem import Role, SpecError
from pipeline.query.database import Database
from pipeline.reports.editor.cursor import SCHEMAS, Cursor, operator_at
from pipeline.reports.editor.places import LINE, NAMED, Files, Spot, base_of, names_in
from pipeline.reports.editor.references import Operator, calls_in_formulas
from pipeline.reports.editor.words import Reader

_NAME = re.compile(r"[A-Za-z_]\w*")
_ROLES: tuple[Role, ...] = ("native", "derivatives", "deprecated")
_DUNDER = re.compile(r"__\w+__")


class Target(Struct, frozen=True):
    """The name to replace."""

    base: str  # `add` of `add_.Tensor`
    overload: str  # `Tensor`, if the cursor is on the overload
    old: str  # the text to replace: `add_`, or `Tensor`
    start: int  # in the cursor's line
    end: int


def target_at(cursor: Cursor) -> Target | None:
    """The name at the cursor; None if the cursor is on no operator's name."""
    line = LINE.match(cursor.text)
    if line is None or cursor.column < line.end():
        return None
    if line[1] in SCHEMAS and cursor.column > cursor.text.find("(", line.end()) >= 0:
        return None
    text, start, end = operator_at(cursor)
    match = NAMED.fullmatch(text)
    if match is None or _DUNDER.fullmatch(match[2]):
        return None
    if match[3] and cursor.column >= start + match.start(3):
        return Target(base_of(match[2]), match[3], match[3], start + match.start(3), end)
    return Target(base_of(match[2]), "", match[2], start + match.start(2), start + match.end(2))


def rename(
    db: Database, target: Target, new: str, cursor: Cursor, files: Files, reader: Reader
) -> list[tuple[Spot, str]]:
    """Every place to change, and its new text. A SpecError if the new name is not allowed or already used."""
    base = new if target.overload else base_of(new)
    if not _NAME.fullmatch(base):
        raise SpecError(f"'{new}' is not a name", "write letters, digits and underscores")
    if not target.overload and (iskeyword(base) or base in KEYWORDS):
        raise SpecError(f"'{base}' is a keyword of Python or C++", "choose another name")
    if target.overload:
        return list(_overload(new, operator_at(cursor)[0], files))
    if new.endswith("_") and not target.old.endswith("_"):
        raise SpecError(f"'{new}' is the name of an in-place variant", "leave the underscore out: variants follow")
    used = {base_of(match[2]) for *_, match in names_in(files, *_ROLES)}
    if base in used - {target.base}:
        raise SpecError(f"there is an operator '{base}'", "choose another name")
    return [*_bases(target, base, files), *_calls(db, target, base, files, reader)]


def _bases(target: Target, base: str, files: Files) -> Iterator[tuple[Spot, str]]:
    present = {match[2] for *_, match in names_in(files, *_ROLES)}
    copy = f"{target.base}_copy"
    names = {target.base: base, f"{target.base}_": f"{base}_"}
    if copy in present:
        names[copy] = f"{base}_copy"
    for path, line, at, _, match in names_in(files, *_ROLES):
        new = names.get(match[2])
        if new is not None:
            yield Spot(path, line, at + match.start(2), at + match.end(2)), new


def _overload(new: str, old: str, files: Files) -> Iterator[tuple[Spot, str]]:
    for path, line, at, _, match in names_in(files, *_ROLES):
        if match[3] and match.group().rpartition("::")[2] == old.rpartition("::")[2]:
            yield Spot(path, line, at + match.start(3), at + match.end(3)), new


def _calls(db: Database, target: Target, base: str, files: Files, reader: Reader) -> Iterator[tuple[Spot, str]]:
    """Calls of the operator and its variants in formulas and deprecated forms, there by their C++ names."""
    for spot, word in calls_in_formulas(db, Operator(target.base), files, reader):
        yield spot, base + word.name.removeprefix(target.base)
