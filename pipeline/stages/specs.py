"""Stage `specs`: the text of one YAML file to its raw entries.

Reads the file's text; writes a `SpecFile`. The text is cut into entries before any YAML is parsed, so that after
an edit only the entries whose text changed are. Where cutting is not safe the whole file is parsed at once.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple

import msgspec
from msgspec import Raw
from yaml.nodes import Node

from pipeline.model.artifact import digest
from pipeline.model.specs import PAIRS, SpecEntry, SpecFile
from pipeline.problems.problem import Problem, Role, SpecError, TextMistake
from pipeline.specs.text import check_characters, check_shape, decode_text
from pipeline.specs.values import NodeBudget, load_document, plain_value

# What looks like an anchor or an alias: an entry may then mean what another one says. And text that keeps the blank
# lines after it, which are cut off with an entry.
_REFERENCE = re.compile(r"[|>]\d?\+|(?:(?:^[ -]*\?|[-:,\[{])[ \n]+|[\[{])[&*][^\s,]", re.MULTILINE)
# What any of these has in it, and few entries have: two patterns that are quick to look for.
_HINTS = (re.compile(r"[&*][^\s,]"), re.compile(r"[|>]\d?\+"))

# A line that starts with something else than an entry, a comment or a space: text with marks, directives or lists that
# are not indented is not cut.
_OTHER_START = re.compile(r"\n(?:[^\n #-]|-[^\n ])")

# Entries that are parsed at once: few enough for their YAML nodes to take little memory.
_BATCH = 200

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
        check_characters(text)
        entries = _by_entry(text, role, previous)
        if entries is None:
            check_shape(text)
            return Read(SpecFile(role, name, _whole(text, role)), [])
    except TextMistake as mistake:
        problem = Problem(role, -1, "", mistake.problem, mistake.hint, line=mistake.line, column=mistake.column)
        return Read(SpecFile(role, name, ()), [problem])
    except SpecError as error:
        return Read(SpecFile(role, name, ()), [Problem(role, -1, "", error.problem, error.hint, line=1, column=1)])
    return Read(SpecFile(role, name, entries, cuttable=True), [])


def _by_entry(text: str, role: Role, previous: SpecFile | None) -> tuple[SpecEntry, ...] | None:
    """The entries, the known ones taken over and the others parsed on their own; None where that will not do.

    A known entry was parsed on its own too, or from a file without references: it means what its text says.
    """
    pieces = _cut(text)
    if not pieces:
        return None
    known = {entry.text: entry for entry in previous.entries} if previous is not None and previous.cuttable else {}
    fresh = list(dict.fromkeys(piece.text for piece in pieces if piece.text not in known))
    if any(map(_refers, fresh)):
        return None
    budget = NodeBudget(text)
    try:
        check_shape("\n".join(fresh))
        made = {
            piece: _made(0, piece, plain_value(node, budget, any_key=role == "tags"), role)
            for start in range(0, len(fresh), _BATCH)
            for piece, node in _parsed(fresh[start : start + _BATCH])
        }
    except TextMistake:
        return None  # parsed whole, to report the mistake at its place, or to find that the cut was wrong
    return tuple(_at(piece.line, known.get(piece.text) or made[piece.text]) for piece in pieces)


def _refers(piece: str) -> bool:
    """Whether an entry may mean what another one says."""
    return any(hint.search(piece) for hint in _HINTS) and _REFERENCE.search(piece) is not None


def _cut(text: str) -> list[Piece]:
    """The entries' texts, none where the text cannot be cut."""
    if _OTHER_START.search("\n" + text):
        return []
    head, *entries = ("\n" + text).split("\n-")
    if any(line.lstrip()[:1] not in ("", "#") for line in head.split("\n")):
        return []
    lines = accumulate([head.count("\n") + 1, *(entry.count("\n") + 1 for entry in entries)])
    return list(map(Piece, lines, [f"-{entry}".rstrip() for entry in entries]))


def _parsed(pieces: list[str]) -> list[tuple[str, Node]]:
    """The YAML node of each piece; a TextMistake when the pieces are not one list item each."""
    nodes = load_document("\n".join(pieces) + "\n") or []
    lines = 0
    for piece, node in zip(pieces, nodes):
        if not lines <= node.start_mark.line <= lines + piece.count("\n"):
            break
        lines += piece.count("\n") + 1
    if len(nodes) != len(pieces) or lines != sum(piece.count("\n") + 1 for piece in pieces):
        raise TextMistake("the text cannot be cut into entries", "", 1, 1)
    return list(zip(pieces, nodes))


def _at(line: int, entry: SpecEntry) -> SpecEntry:
    return entry if entry.line == line else SpecEntry(line, entry.text, entry.value, entry.digest)


def _made(line: int, text: str, value: object, role: Role) -> SpecEntry:
    raw = _encoder.encode(_ordered(value, role))
    return SpecEntry(line, text, Raw(raw), digest(raw))


def _ordered(value: object, role: Role) -> object:
    """`value`, with the one mapping whose order counts turned into a list: encoding sorts the keys of mappings.

    In derivatives.yaml, Nodes are numbered in the order of the `dispatch:` rows.
    """
    if role == "derivatives" and isinstance(value, dict) and isinstance(value.get("dispatch"), dict):
        return {**value, "dispatch": {PAIRS: [[key, row] for key, row in value["dispatch"].items()]}}
    return value


def _whole(text: str, role: Role) -> tuple[SpecEntry, ...]:
    nodes = load_document(text)
    if nodes is None:
        raise SpecError("the file is empty", "it must be a list of entries")
    lines = text.split("\n")
    budget = NodeBudget(text)
    ends = [*(node.start_mark.line for node in nodes[1:]), len(lines)]
    entries = []
    for node, end in zip(nodes, ends):
        start = node.start_mark.line
        if start and lines[start - 1].rstrip() == "-":
            start -= 1  # the dash stands alone
        piece = "\n".join(lines[start : max(end, start + 1)]).rstrip()
        entries.append(_made(start + 1, piece, plain_value(node, budget, any_key=role == "tags"), role))
    return tuple(entries)
