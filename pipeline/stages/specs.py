"""Stage `specs`: the text of one YAML file to its raw entries.

Reads the file's text; writes a `SpecFile`. The text is cut into entries before any YAML is parsed, so that after
an edit only the entries whose text changed are. Where cutting is not safe the whole file is parsed at once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec import Raw

from pipeline.model.artifact import digest
from pipeline.model.specs import SpecEntry, SpecFile
from pipeline.problems import Problem, Role, SpecError
from pipeline.spec_text import check_limits, decode_text
from pipeline.spec_yaml import YamlMistake, load_document, load_entry, plain_value

# What makes cutting unsafe: at the start of a line, anything but an entry, a comment or white space (document marks
# and directives among it); anywhere, what looks like an anchor or an alias.
_UNSAFE = re.compile(r"^(?:[^\s#-]|-[^ \n]|\t)|(?:[-:?,\[{][ \n]+|[\[{])[&*][^\s,]", re.MULTILINE)
_ENTRY = re.compile(r"^- ", re.MULTILINE)

# Parsing this many entries one by one costs as much as parsing upstream's largest file at once.
_MANY = 400

_encoder = msgspec.msgpack.Encoder(order="deterministic")


class Read(NamedTuple):
    file: SpecFile
    problems: list[Problem]


class Piece(NamedTuple):
    """One entry's text, cut out."""

    line: int
    text: str


def run(data: bytes, role: Role, name: str, previous: SpecFile | None) -> Read:
    """The entries of one file. A file that is no list of entries has none, and a problem."""
    try:
        text = decode_text(data)
        check_limits(text)
        entries = _by_entry(text, role, previous)
        if entries is None:
            entries = _whole(text, role)
    except YamlMistake as mistake:
        problem = Problem(role, -1, "", mistake.problem, mistake.hint, line=mistake.line, column=mistake.column)
        return Read(SpecFile(role, name, ()), [problem])
    except SpecError as error:
        return Read(SpecFile(role, name, ()), [Problem(role, -1, "", error.problem, error.hint, line=1, column=1)])
    return Read(SpecFile(role, name, entries), [])


def _by_entry(text: str, role: Role, previous: SpecFile | None) -> tuple[SpecEntry, ...] | None:
    """The entries, the known ones taken over and the others parsed on their own; None where that will not do."""
    if previous is None or _UNSAFE.search(text):
        return None
    known = {entry.text: entry for entry in previous.entries}
    pieces = _cut(text)
    if not pieces or sum(piece.text not in known for piece in pieces) > _MANY:
        return None
    try:
        return tuple(_entry(piece, known.get(piece.text), role) for piece in pieces)
    except YamlMistake:
        return None  # parsed whole, to report the mistake at its place, or to find that the cut was wrong


def _cut(text: str) -> list[Piece]:
    starts = [match.start() for match in _ENTRY.finditer(text)]
    pieces = []
    line = 1 + text.count("\n", 0, starts[0]) if starts else 1
    for start, end in zip(starts, [*starts[1:], len(text)]):
        piece = text[start:end]
        pieces.append(Piece(line, piece.rstrip()))
        line += piece.count("\n")
    return pieces


def _entry(piece: Piece, known: SpecEntry | None, role: Role) -> SpecEntry:
    if known is not None:
        return known if known.line == piece.line else SpecEntry(piece.line, piece.text, known.value, known.digest)
    return _made(piece, load_entry(piece.text), role)


def _made(piece: Piece, value: object, role: Role) -> SpecEntry:
    raw = _encoder.encode(_ordered(value, role))
    return SpecEntry(piece.line, piece.text, Raw(raw), digest(raw))


def _ordered(value: object, role: Role) -> object:
    """`value`, with the one mapping whose order counts turned into a list: encoding sorts the keys of mappings.

    In derivatives.yaml, Nodes are numbered in the order of the `dispatch:` rows.
    """
    if role == "derivatives" and isinstance(value, dict) and isinstance(value.get("dispatch"), dict):
        return {**value, "dispatch": [[key, row] for key, row in value["dispatch"].items()]}
    return value


def _whole(text: str, role: Role) -> tuple[SpecEntry, ...]:
    nodes = load_document(text)
    if nodes is None:
        raise SpecError("the file is empty", "it must be a list of entries")
    lines = text.split("\n")
    ends = [*(node.start_mark.line for node in nodes[1:]), len(lines)]
    entries = []
    for node, end in zip(nodes, ends):
        start = node.start_mark.line
        piece = Piece(start + 1, "\n".join(lines[start : max(end, start + 1)]).rstrip())
        entries.append(_made(piece, plain_value(node), role))
    return tuple(entries)
