"""Renames an operator in all files of a set: its schemas, its definitions, and all references to it.

With the cursor on the name, all overloads and variants of the operator are renamed (`add`, `add_`, `add.out`, and
`add_copy` if that is the copy of a view), in formulas and deprecated forms too. With the cursor on an overload, only
that one is renamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword

from gradmill.cpp.identifiers import KEYWORDS
from gradmill.extensions.browse.editor.cursor import Cursor
from gradmill.extensions.browse.editor.references import Named, Operator, calls_in_formulas, named_at
from gradmill.extensions.browse.editor.spots import Files, Spot, base_of, names_in
from gradmill.extensions.browse.editor.words import Reader
from gradmill.problems.problem import Role, SpecError
from gradmill.query.database import Database

_NAME = re.compile(r"[A-Za-z_]\w*")
_ROLES: tuple[Role, ...] = ("native", "derivatives", "deprecated")
_DUNDER = re.compile(r"__\w+__(?:\.|$)")


def target_at(cursor: Cursor) -> Named | None:
    """The name at the cursor; None if the cursor is on no operator's name that can be replaced."""
    named = named_at(cursor)
    return None if named is None or _DUNDER.match(named.operator.whole or named.text) else named


def rename(db: Database, target: Named, new: str, files: Files, reader: Reader) -> list[tuple[Spot, str]]:
    """Every place to change, and its new text. A SpecError if the new name is not allowed or already used."""
    operator = target.operator
    base = new if operator.whole else base_of(new)
    if not _NAME.fullmatch(base):
        raise SpecError(f"'{new}' is not a name", "write letters, digits and underscores")
    if operator.whole:
        return list(_overload(new, operator.whole, files))
    if iskeyword(base) or base in KEYWORDS:
        raise SpecError(f"'{base}' is a keyword of Python or C++", "choose another name")
    if new.endswith("_") and not target.text.endswith("_"):
        raise SpecError(f"'{new}' is the name of an in-place variant", "leave the underscore out: variants follow")
    used = {base_of(match[2]) for *_, match in names_in(files, *_ROLES)}
    if base in used - {operator.base}:
        raise SpecError(f"there is an operator '{base}'", "choose another name")
    return [*_bases(operator.base, base, files), *_calls(db, operator, base, files, reader)]


def _bases(old: str, base: str, files: Files) -> Iterator[tuple[Spot, str]]:
    present = {match[2] for *_, match in names_in(files, *_ROLES)}
    copy = f"{old}_copy"
    names = {old: base, f"{old}_": f"{base}_"}
    if copy in present:
        names[copy] = f"{base}_copy"
    for path, line, at, _, match in names_in(files, *_ROLES):
        new = names.get(match[2])
        if new is not None:
            yield Spot(path, line, at + match.start(2), at + match.end(2)), new


def _overload(new: str, old: str, files: Files) -> Iterator[tuple[Spot, str]]:
    for path, line, at, _, match in names_in(files, *_ROLES):
        if match[3] and match.group().rpartition("::")[2] == old:
            yield Spot(path, line, at + match.start(3), at + match.end(3)), new


def _calls(db: Database, operator: Operator, base: str, files: Files, reader: Reader) -> Iterator[tuple[Spot, str]]:
    """Calls of the operator and its variants in formulas and deprecated forms, there by their C++ names."""
    for spot, word in calls_in_formulas(db, operator, files, reader):
        yield spot, base + word.name.removeprefix(operator.base)
