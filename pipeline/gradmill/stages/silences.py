"""Silences of warnings: comments `# gradmill: ignore RULE reason` on entries of the spec files and in descriptions.

A comment is on the entry that it is in, or on the one right below it; in a description on its line, or the next one
that is not a comment. Part of the stage `specs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gradmill.model.layers import role_of
from gradmill.model.regex import regex
from gradmill.problems.problem import Role, SpecError
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.specs.entries import Piece, outdented, parse_pieces
from gradmill.specs.location import DESCRIPTION
from gradmill.specs.spec_set import ROLES
from gradmill.specs.text import decode_text
from gradmill.stages.set import described, source, source_keys, spec_label
from gradmill.stages.specs import current_text, entries, keys_of, texts_of

_MARK = b"gradmill:"  # few files have it
_COMMENT = regex(r"(?:^|(?<=[ \t]))#[ \t]*gradmill:[ \t]*ignore\b[ \t]*(?P<rule>[\w-]*)[ \t]*(?P<reason>.*)")


BACKEND: Role = "external_backend"


class Silence(Struct, frozen=True, array_like=True):
    """A comment that silences a rule for an entry. Lines and columns count from 1."""

    role: Role
    key: str  # of the file
    entry: str  # "" if it is on no entry; in a description, or a backend's file, the line that it is on
    rule: str  # "" if it is missing
    reason: str
    line: int
    column: int


@query
def in_file(db: Database, key: str) -> list[Silence]:
    """The silences of a file, in its order; none of a file without entries."""
    labels = [spec_label(each) for each in (key, *source(db, key).diffs)]
    if not any(_MARK in (db.input(label) or b"") for label in labels):
        return []
    whole, role = current_text(db, key), role_of(key)
    keys = keys_of(db, role)
    pieces = list(zip((name for name in db.names(entries, role) if keys[name] == key), texts_of(db, key)))
    if not pieces:  # the file is empty or no YAML, which is an error of its own
        return []
    lines = (whole or "").split("\n")
    silences = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        entry = _entry_of(lines, number, pieces) if match is not None else None
        if match is None or (entry is not None and _is_text(entry[1], role, number, match.start())):
            continue
        silences.append(_silence(match, role, key, entry[0] if entry is not None else "", number, match.start() + 1))
    return silences


@query
def on_lines(db: Database, role: Role, key: str) -> list[Silence]:
    """The silences in the set's description, or in the file of a backend's operators, in their order: each is on its
    line, or the next that is no comment. Those in a base's description are about the base's own runs."""
    data = db.input(spec_label(key)) or b""
    if _MARK not in data:
        return []
    from gradmill.specs.layers.toml_text import comments

    text, silences = decode_text(data), []
    lines = text.split("\n")
    for number, column, comment in comments(text):
        match, on = _COMMENT.match(comment), number
        while on < len(lines) and lines[on - 1].lstrip()[:1] in ("#", ""):
            on += 1
        if match is not None:
            silences.append(_silence(match, role, key, str(on), number, column))
    return silences


def _silence(match: re.Match[str], role: Role, key: str, entry: str, line: int, column: int) -> Silence:
    rule, reason = match["rule"], match["reason"].strip()
    return Silence(role=role, key=key, entry=entry, rule=rule, reason=reason, line=line, column=column)


def is_silent(db: Database) -> bool:
    """Whether no warning is silenced, as in nearly every set."""
    layers = described(db)
    return not (layers is not None and layers.description.ignore) and not any(all_silences(db))


def all_silences(db: Database) -> Iterator[Silence]:
    """The silences of all spec files, of a backend's and of the description, file by file, in the order of their
    lines."""
    yield from (silence for role in ROLES for key in source_keys(db, role) for silence in in_file(db, key))
    yield from on_lines(db, BACKEND, BACKEND)
    yield from on_lines(db, "set", DESCRIPTION)


def _entry_of(lines: list[str], number: int, pieces: list[tuple[str, Piece]]) -> tuple[str, Piece] | None:
    """The entry that a line is in, or that follows the comments which the line is one of."""
    below = number
    while below < len(lines) and lines[below - 1].lstrip().startswith("#"):
        below += 1
    for name, piece in pieces:
        last = piece.last
        if piece.line <= number <= last or piece.line == below:
            return name, piece
    return None


def _is_text(piece: Piece, role: Role, number: int, column: int) -> bool:
    """Whether what looks like a comment is a part of a text: then the entry has another value without it."""
    lines = piece.text.split("\n")
    place = number - piece.line
    if not 0 <= place < len(lines):
        return False
    without = "\n".join([*lines[:place], lines[place][:column].rstrip(), *lines[place + 1 :]])
    try:
        return parse_pieces([outdented(piece.text)], role) != parse_pieces([outdented(without)], role)
    except SpecError:  # it cannot be parsed alone
        return False
