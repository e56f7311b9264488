"""Comments that silence warnings, `# gradmill: ignore RULE reason`, in the text of files.

A comment is on the entry that it is in, or on the one right below it; in a description on its line, or the next one
that is not a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gradmill.model.regex import regex
from gradmill.problems.problem import Role, SpecError
from gradmill.specs.entries import Piece, outdented, parse_one

MARK = b"gradmill:"  # few files have it
_COMMENT = regex(r"(?:^|(?<=[ \t]))#[ \t]*gradmill:[ \t]*ignore\b[ \t]*(?P<rule>[\w-]*)[ \t]*(?P<reason>.*)")


class Silence(Struct, frozen=True, array_like=True):
    """A comment that silences a rule for an entry. Lines and columns count from 1."""

    role: Role
    key: str  # of the file
    entry: str  # "" if it is on no entry; in a description, or a backend's file, the line that it is on
    rule: str  # "" if it is missing
    reason: str
    line: int
    column: int


def on_entries(role: Role, key: str, text: str, pieces: list[tuple[str, Piece]]) -> Iterator[Silence]:
    """The silences of a file, in its order. `pieces`: its entries by name."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        entry = _entry_of(lines, number, pieces) if match is not None else None
        if match is not None and not (entry is not None and _is_text(entry[1], role, number, match.start())):
            yield _silence(match, role, key, entry[0] if entry is not None else "", number, match.start() + 1)


def on_lines(role: Role, key: str, text: str) -> Iterator[Silence]:
    """The silences of a file without entries, in their order: each is on its line, or the next that is no comment."""
    from gradmill.specs.toml_text import comments

    lines = text.split("\n")
    for number, column, comment in comments(text):
        match, on = _COMMENT.match(comment), number
        while on < len(lines) and lines[on - 1].lstrip()[:1] in ("#", ""):
            on += 1
        if match is not None:
            yield _silence(match, role, key, str(on), number, column)


def _silence(match: re.Match[str], role: Role, key: str, entry: str, line: int, column: int) -> Silence:
    rule, reason = match["rule"], match["reason"].strip()
    return Silence(role=role, key=key, entry=entry, rule=rule, reason=reason, line=line, column=column)


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
        return parse_one(outdented(piece.text), role) != parse_one(outdented(without), role)
    except SpecError:  # it cannot be parsed alone
        return False
