"""The bytes of a spec file to its entries: text, entries cut out of it, their values.

The text is cut into entries before any YAML is parsed, so that after an edit only the entries whose text changed are.
Where cutting is not safe the whole file is parsed at once. Values are MessagePack: dicts, lists, text, numbers,
booleans and None, with sorted keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pipeline.model.entries import PAIRS
from pipeline.model.regex import regex
from pipeline.problems.problem import Role, SpecError, TextMistake
from pipeline.specs import plain
from pipeline.specs.text import check_characters, conflict_marker, decode_text

if TYPE_CHECKING:
    from yaml.nodes import Node

# What looks like an anchor or an alias: an entry may then mean what another one says. And text that keeps the blank
# lines after it, which are cut off with an entry.
_REFERENCE = regex(r"[|>]\d?\+|(?:(?:^[ -]*\?|[-:,\[{])[ \n]+|[\[{])[&*][^\s,]", re.MULTILINE)
# What any of these has in it, and few entries have: two patterns that are quick to look for.
_HINTS = (regex(r"[&*][^\s,]"), regex(r"[|>]\d?\+"))

# A line that starts with something else than an entry, a comment or a space: text with marks, directives or lists that
# are not indented is not cut. Nor is text with the line ends of Unicode, which count as lines to YAML alone.
_OTHER_START = regex(r"\n(?:[^\n #-]|-[^\n ])")
_OTHER_LINE_END = regex("[\x85\u2028\u2029]")
# The start of a text of several lines, whose value has a line end only where the file has one.
_BLOCK_TEXT = regex(r"[|>][-+\d]*[ \t]*(?:#.*)?$", re.MULTILINE)

# Entries that are parsed at once: few enough for their YAML nodes to take little memory.
_BATCH = 200

_encoder = msgspec.msgpack.Encoder(order="deterministic")


class Piece(NamedTuple):
    """One entry's text, and the line it starts at, counted from 1."""

    line: int
    text: str


def read_text(data: bytes) -> str:
    """The text of a spec file; a TextMistake where it is none."""
    text = decode_text(data)
    check_characters(text)
    if (conflict := conflict_marker(text)) is not None:
        raise conflict
    return text


def cut(text: str) -> list[Piece] | None:
    """The entries' texts, without the blank lines that follow them; None where the text cannot be cut safely."""
    if _OTHER_START.search("\n" + text) or (not text.isascii() and _OTHER_LINE_END.search(text)):
        return None
    head, *entries = ("\n" + text).split("\n-")
    if not entries or any(line.lstrip(" ")[:1] not in ("", "#") for line in head.split("\n")):
        return None
    if not text.endswith("\n") and _BLOCK_TEXT.search(entries[-1]):
        return None
    lines = accumulate([head.count("\n") + 1, *(entry.count("\n") + 1 for entry in entries)])
    # White space that is no line end may be content.
    return list(map(Piece, lines, [f"-{entry}".rstrip("\n") for entry in entries]))


def head(piece: str) -> str:
    """What an entry starts with, to name it by without parsing it: `func: exp(Tensor self) -> Tensor`."""
    first = piece.partition("\n")[0].removeprefix("-").strip(" ")
    if first and not first.startswith("#"):
        return first  # as nearly all are
    for line in piece.removeprefix("-").split("\n"):
        words = line.strip(" ")
        if words and not words.startswith("#"):
            return words
    return ""


def outdented(piece: str) -> str:
    """The text of an item as it would stand in a list without indentation; as it is where a line is less indented."""
    indent = len(piece) - len(piece.lstrip(" "))
    lines = piece.split("\n")
    if not indent or any(line[:indent].strip(" ") for line in lines):
        return piece
    return "\n".join(line[indent:] for line in lines)


def refers(piece: str) -> bool:
    """Whether an entry may mean what another one says."""
    return any(hint.search(piece) for hint in _HINTS) and _REFERENCE.search(piece) is not None


def parse_plain(text: str, role: Role) -> bytes | None:
    """The value of a text that was cut out, None where it takes a YAML parser to read it."""
    value = plain.read(text)
    return None if value is None else encoded(value, role)


def parse_pieces(texts: list[str], role: Role) -> list[bytes]:
    """The value of each text that was cut out; a TextMistake when they cannot be parsed one by one.

    The place of such a mistake means nothing: `parse_whole` finds it, or finds that the cut was wrong.
    """
    values = {text: plain.read(text) for text in texts}
    found: dict[str, object] = {text: value for text, value in values.items() if value is not None}
    rest = [text for text, value in values.items() if value is None]
    if rest:
        found |= _parse_with_yaml(rest, role)
    return [encoded(found[text], role) for text in texts]


def parse_whole(text: str, role: Role) -> list[tuple[Piece, bytes]]:
    """All entries of a file with their values; a TextMistake at its place, or a SpecError when there is no entry."""
    from pipeline.specs.values import check_written_out, load_document

    try:
        nodes = load_document(text)
        if nodes is None:
            raise SpecError("the file is empty", "it must be a list of entries")
        if role == "derivatives" and len(set(map(id, nodes))) < len(nodes):
            check_written_out(text)
        build = _builder(text, role)
        return [(piece, encoded(build(node), role)) for piece, node in zip(_pieces_of(nodes, text), nodes)]
    except TextMistake as mistake:
        from pipeline.problems.locate import own_place

        line, column = own_place(text, mistake.line - 1, mistake.column - 1)
        raise TextMistake(mistake.problem, mistake.hint, line + 1, column + 1) from mistake


def unused_anchors(text: str) -> list[TextMistake]:
    """The anchors of texts that no alias refers to: to YAML, what follows the `&` that a text begins with is one."""
    from pipeline.problems.locate import own_place
    from pipeline.specs.values import anchors

    found = []
    for name, *place in anchors(text):
        line, column = own_place(text, *place)
        problem = f"'&{name}' is an anchor to YAML, and no part of the text: no alias refers to it"
        found.append(TextMistake(problem, "put the text in quotes, or remove the anchor", line + 1, column + 1))
    return found


def _parse_with_yaml(pieces: list[str], role: Role) -> dict[str, object]:
    """The values of different pieces."""
    if any(map(refers, pieces)):
        raise TextMistake("an entry refers to another one", "", 1, 1)
    text = "\n".join(pieces)
    build = _builder(text, role)
    batches = [pieces[start : start + _BATCH] for start in range(0, len(pieces), _BATCH)]
    return {piece: build(node) for batch in batches for piece, node in zip(batch, _nodes_of(batch))}


def _builder(text: str, role: Role) -> Callable[[Node], object]:
    """From the YAML nodes of `text` to plain values."""
    from pipeline.specs.values import NodeBudget, plain_value

    return partial(plain_value, budget=NodeBudget(text), role=role)


def _nodes_of(pieces: list[str]) -> list[Node]:
    """The YAML node of each piece; a TextMistake when the pieces are not one list item each."""
    from pipeline.specs.values import load_document

    nodes = load_document("\n".join(pieces) + "\n") or []
    starts = accumulate((piece.count("\n") + 1 for piece in pieces), initial=0)
    inside = (
        start <= node.start_mark.line <= start + piece.count("\n") for start, piece, node in zip(starts, pieces, nodes)
    )
    if len(nodes) != len(pieces) or not all(inside):
        raise TextMistake("the text cannot be cut into entries", "", 1, 1)
    return nodes


def _pieces_of(nodes: list[Node], text: str) -> list[Piece]:
    """Where the items of a list stand in their text."""
    lines = _OTHER_LINE_END.sub("\n", text).split("\n")
    # Lines as all but YAML count them.
    own = list(accumulate((end == "\n" for end in re.findall("[\n\x85\u2028\u2029]", text)), initial=0))
    ends = [*(node.start_mark.line for node in nodes[1:]), len(lines)]
    pieces = []
    for node, end in zip(nodes, ends):
        start = node.start_mark.line
        if start and lines[start - 1].rstrip(" \t") == "-":
            start -= 1  # the dash stands alone
        pieces.append(Piece(own[start] + 1, "\n".join(lines[start : max(end, start + 1)]).rstrip("\n")))
    return pieces


def encoded(value: object, role: Role) -> bytes:
    """The value as MessagePack, with the one mapping whose order counts turned into a list: keys are sorted.

    In derivatives.yaml, Nodes are numbered in the order of the `dispatch:` rows.
    """
    if role == "derivatives" and isinstance(value, dict) and isinstance(value.get("dispatch"), dict):
        value = {**value, "dispatch": {PAIRS: [[key, row] for key, row in value["dispatch"].items()]}}
    return _encoder.encode(value)
