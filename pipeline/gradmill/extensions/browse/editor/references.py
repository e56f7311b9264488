"""References of the name at the cursor: an operator's in all files, a helper's in formulas, a value's in its entry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gradmill.cpp.overloads import SYMINT
from gradmill.extensions.browse.editor.cursor import SCHEMAS, Cursor
from gradmill.extensions.browse.editor.outline import Block, outline
from gradmill.extensions.browse.editor.spots import (
    Files,
    Spot,
    arguments_of,
    base_of,
    declarations,
    name_at,
    names_in,
)
from gradmill.extensions.browse.editor.words import Reader, Word
from gradmill.model.keys import ENTRY_KEY
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.rules.native.python_names import OUT

_VALUE = re.compile(r"\w+")
_TANGENT = re.compile(r"_[tp]$")
_CALLS = ("operator", "method")


class Operator(Struct, frozen=True):
    """An operator with all its variants or, with an overload, one function."""

    base: str  # `add` of `add_.Tensor`
    whole: str = ""  # `add_.Tensor`, if one function is wanted


class Helper(Struct, frozen=True):
    """A helper."""

    name: str


class Value(Struct, frozen=True):
    """An argument, an output or a gradient of the entry at the cursor."""

    name: str


class Named(Struct, frozen=True):
    """The name of an operator at the cursor: the text there, which is the name without overload or the overload."""

    operator: Operator
    text: str
    start: int  # in the cursor's line
    end: int


Target = Operator | Helper | Value


def references(db: Database, cursor: Cursor, path: str, files: Files, reader: Reader, *, declared: bool) -> list[Spot]:
    """The places that refer to the name at the cursor, in the order of the files, each once; none if there is no name.
    `path`: the file of the cursor. `declared`: with the declarations of the name."""
    target, block = target_at(db, cursor, reader), cursor.entry
    if target is None or block is None:
        return []
    if isinstance(target, Value):
        spots = list(_of_value(db, cursor.role, target.name, block, path, reader))
        if declared and cursor.role == "derivatives":
            spots += arguments_of(files, block.body.operator, _TANGENT.sub("", target.name))
        return sorted(set(spots), key=lambda spot: (spot.path, spot.line, spot.start))
    spots = [spot for spot, _ in calls_in_formulas(db, target, files, reader)]
    if isinstance(target, Operator):
        spots = [*_named(target, files, declared=declared), *spots]
    elif declared:
        spots += [spot for spot in declarations(db, cursor, files) if spot.path != path]
    return list(dict.fromkeys(spots))


def target_at(db: Database, cursor: Cursor, reader: Reader) -> Target | None:
    """What the name at the cursor stands for; None if it is not a name that is referred to."""
    block, named = cursor.entry, named_at(cursor)
    if block is None or cursor.line > block.last or cursor.role == "tags":
        return None
    if named is not None:
        return named.operator
    if cursor.value == "schema":
        return Value(cursor.word[0]) if _is_argument(cursor) else None
    for word in reader.words(db, cursor.role, block.body):
        if word.line + block.line == cursor.line and word.start <= cursor.column <= word.end and word.name:
            return _target_of(word, cursor.role)
    is_key = cursor.role == "derivatives" and not cursor.in_value and cursor.word[0]
    return Value(cursor.word[0]) if is_key and _in_head(block, cursor.word[0]) else None


def _is_argument(cursor: Cursor) -> bool:
    """Whether the word at the cursor is the name of an argument or an output in a schema."""
    word, start, end = cursor.word
    return bool(word) and cursor.text[end : end + 1] in tuple(",)=") and cursor.text[start - 1 : start] == " "


def _in_head(block: Block, name: str) -> bool:
    return name == "result" or re.search(rf"\b{re.escape(name)}\b", block.body.head.partition("(")[2]) is not None


def named_at(cursor: Cursor) -> Named | None:
    """The name of an operator at the cursor, outside of formulas; None if there is none."""
    match = name_at(cursor)
    if match is None:
        return None
    group = 3 if match[3] and cursor.column >= match.start(3) else 2
    whole = match.group().rpartition("::")[2] if group == 3 else ""
    return Named(Operator(base_of(match[2]), whole), match[group], *match.span(group))


def _target_of(word: Word, role: Role) -> Target | None:
    if word.kind == "helper":
        return Helper(word.name)
    if word.kind in _CALLS:
        return Operator(_base(word.name, role))
    if word.kind in ("argument", "output", "gradient", "word"):
        return Value(word.name)
    return None


def _base(called: str, role: Role) -> str:
    """The operator that a formula calls; a deprecated form also calls out variants, by their C++ names."""
    name = called.removesuffix(SYMINT)
    return base_of(name.removesuffix(OUT) if role == "deprecated" else name)


def _named(target: Operator, files: Files, *, declared: bool) -> Iterator[Spot]:
    """The places that name the operator outside of formulas: schemas, definitions, references between schemas."""
    for path, line, start, key, match in names_in(files, "native", "derivatives", "deprecated"):
        if key == ENTRY_KEY["native"] and not declared:
            continue
        name = match.group().rpartition("::")[2]
        if name == target.whole or (not target.whole and base_of(match[2]) == target.base):
            yield Spot(path, line, start + match.start(2), start + match.end())


def calls_in_formulas(
    db: Database, target: Operator | Helper, files: Files, reader: Reader
) -> Iterator[tuple[Spot, Word]]:
    """The calls in formulas and in deprecated forms; none of one overload, which no call names."""
    if isinstance(target, Operator) and target.whole:
        return
    name = target.base if isinstance(target, Operator) else target.name
    for role in ("derivatives", "deprecated"):
        for path, lines in files.by_role.get(role, ()):
            for block in outline(lines):
                if name not in block.body.text:
                    continue
                for word in reader.words(db, role, block.body):
                    if _is_call(word, target, role):
                        yield Spot(path, block.line + word.line, word.start, word.end), word


def _is_call(word: Word, target: Operator | Helper, role: Role) -> bool:
    if isinstance(target, Helper):
        return word.kind == "helper" and word.name == target.name
    return word.kind in _CALLS and _base(word.name, role) == target.base


def _of_value(db: Database, role: Role, name: str, block: Block, path: str, reader: Reader) -> Iterator[Spot]:
    """The places of a value in its entry's schema, keys and formulas; an argument's tangent and primal count, too."""
    plain = _TANGENT.sub("", name)
    arguments = block.body.head.partition("(")[2]
    names = {name, plain} if re.search(rf"\b{re.escape(plain)}\b", arguments) else {name}
    wanted = {each for name in names for each in (name, f"{name}_t", f"{name}_p")}
    for word in reader.words(db, role, block.body):
        if word.name in wanted and word.kind not in (*_CALLS, "helper"):
            yield Spot(path, block.line + word.line, word.start, word.end)
    lines = block.body.text.split("\n")
    for field in block.body.fields:
        line, text = field.line, lines[field.line]
        if field.key in SCHEMAS:
            for match in re.finditer(rf"(?<= ){re.escape(plain)}(?=[,)=])", text):
                yield Spot(path, block.line + line, match.start(), match.end())
        elif role == "derivatives":
            for match in _VALUE.finditer(text, field.start, field.end):
                if match.group() == plain:
                    yield Spot(path, block.line + line, match.start(), match.end())
