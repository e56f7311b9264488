"""Splits the bytes of a spec file into entries and parses the value of each.

The text is cut into entries before any YAML is parsed, so an edit re-parses only the changed entries. If cutting is
not safe, the whole file is parsed at once. Values are MessagePack: dicts, lists, text, numbers, booleans and None,
with sorted keys.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from gradmill.model.entries import PAIRS
from gradmill.model.keys import SHARED
from gradmill.model.regex import regex
from gradmill.problems.problem import Role, SpecError, TextError
from gradmill.specs import plain
from gradmill.specs.text import ASCII, check_characters, conflict_marker, decode_text

if TYPE_CHECKING:
    from yaml.nodes import Node

# Matches what looks like an anchor or an alias, since such an entry may depend on another one. Also matches a block
# scalar that keeps its trailing blank lines: cutting removes them.
_REFERENCE = regex(r"[|>]\d?\+|(?:(?:^[ -]*\?|[-:,\[{])[ \n]+|[\[{])[&*][^\s,]", re.MULTILINE)

# Matches a line that starts with anything but an entry, a comment or a space. Text with document marks, directives or
# unindented lists is not cut. Nor is text with Unicode line ends, which only YAML counts as line ends.
_OTHER_START = regex(r"\n(?:[^\n #-]|-[^\n ])")
_OTHER_LINE_END = regex("[\x85\u2028\u2029]")
# Matches the header of a block scalar: its value ends in a line end only if the file does.
_BLOCK_TEXT = regex(r"[|>][-+\d]*[ \t]*(?:#.*)?$", re.MULTILINE)

_encoder = msgspec.msgpack.Encoder(order="deterministic")
_in_order = msgspec.msgpack.Encoder()


_AFTER = regex(r"(\n[ \t]*(#[^\n]*)?)+\Z")


class Piece(Struct, frozen=True, gc=False, array_like=True):
    """One entry's text, and the line it starts at, counted from 1."""

    line: int
    text: str

    @property
    def own(self) -> str:
        """The text without the comments after it, which describe the next entry."""
        return _AFTER.sub("", self.text)

    @property
    def last(self) -> int:
        """The last line of that text."""
        return self.line + self.own.count("\n")


def read_text(data: bytes) -> str:
    """Returns the text of a spec file; raises a TextError if the bytes are not valid text."""
    text = decode_text(data)
    if data.translate(None, ASCII):  # the text of few files
        check_characters(text)
    if (conflict := conflict_marker(text)) is not None:
        raise conflict
    return text


def cut(text: str) -> list[Piece] | None:
    """Returns the text of each entry, without trailing blank lines; None if the text cannot be cut safely."""
    lines_of_text = "\n" + text
    if _OTHER_START.search(lines_of_text) or (not text.isascii() and _OTHER_LINE_END.search(text)):
        return None
    head, *entries = lines_of_text.split("\n-")
    if not entries or any(line.lstrip(" ")[:1] not in ("", "#") for line in head.split("\n")):
        return None
    if not text.endswith("\n") and _BLOCK_TEXT.search(entries[-1]):
        return None
    lines = accumulate([head.count("\n") + 1, *(entry.count("\n") + 1 for entry in entries)])
    # White space other than a line end may be content.
    return list(map(Piece, lines, [f"-{entry}".rstrip("\n") for entry in entries]))


def head(piece: str) -> str:
    """The first line of an entry, which identifies it without parsing: `func: exp(Tensor self) -> Tensor`."""
    first = piece.partition("\n")[0].removeprefix("-").strip(" ")
    if first and not first.startswith("#"):
        return first  # nearly all entries
    for line in piece.removeprefix("-").split("\n"):
        words = line.strip(" ")
        if words and not words.startswith("#"):
            return words
    return ""


def outdented(piece: str) -> str:
    """The text of a list item with its indentation removed; unchanged if one of its lines is less indented."""
    if not piece.startswith(" "):
        return piece  # nearly all entries
    indent, lines = len(piece) - len(piece.lstrip(" ")), piece.split("\n")
    return piece if any(line[:indent].strip(" ") for line in lines) else "\n".join(line[indent:] for line in lines)


def refers(piece: str) -> bool:
    """Whether an entry may depend on another one, by an anchor or an alias."""
    return _REFERENCE.search(piece) is not None


def parse_one(text: str, role: Role) -> bytes:
    """The value of one entry's text; raises a TextError if it cannot be parsed alone.

    The place in this error is meaningless: `parse_whole` then reports the right one, or succeeds if only the cut was
    wrong.
    """
    value: object = plain.read(text)
    if value is None:
        from gradmill.specs.values import PlainValues, load_document

        if refers(text):
            raise TextError("the entry refers to another one", "", 1, 1)
        nodes = load_document(f"{text}\n") or []
        if len(nodes) != 1:
            raise TextError("the text cannot be cut into entries", "", 1, 1)
        value = PlainValues(text, role).of(nodes[0])
    return encoded(value, role)


def parse_whole(text: str, role: Role) -> list[tuple[Piece, bytes]]:
    """All entries of a file with their values.

    Raises a TextError at the place of an error in the text, and a SpecError if the file has no entries.
    """
    from gradmill.specs.values import PlainValues, check_written_out, load_document

    try:
        nodes = load_document(text)
        if nodes is None:
            raise SpecError("the file is empty", "it must be a list of entries")
        if role == "derivatives" and len(set(map(id, nodes))) < len(nodes):
            check_written_out(text)
        values = list(map(PlainValues(text, role).of, nodes))
        if role == "native":
            _note_shared_tags(nodes, values)
        return [(piece, encoded(value, role)) for piece, value in zip(_pieces_of(nodes, text), values)]
    except TextError as error:
        from gradmill.problems.locate import own_place

        line, column = own_place(text, error.line - 1, error.column - 1)
        raise TextError(error.problem, error.hint, line + 1, column + 1) from error


def _note_shared_tags(nodes: list[Node], values: list[object]) -> None:
    """Adds the schemas of earlier entries with the same list of tags to it, as `{SHARED: schema}`: upstream appends the
    tags that these receive."""
    from yaml.nodes import MappingNode, SequenceNode

    users: dict[int, list[object]] = {}
    for node, value in zip(nodes, values):
        for key, tags in node.value if isinstance(node, MappingNode) else ():
            if key.value == "tags" and isinstance(tags, SequenceNode) and isinstance(value, dict):
                earlier = users.setdefault(id(tags), [])
                value["tags"] = [*value["tags"], *({SHARED: func} for func in earlier)]
                earlier.append(value.get("func"))


def unused_anchors(text: str) -> list[TextError]:
    """An error for each scalar anchor without an alias: YAML reads a leading `&` as an anchor, not as text."""
    from gradmill.problems.locate import own_place
    from gradmill.specs.values import anchors

    errors = []
    for name, *place in anchors(text):
        line, column = own_place(text, *place)
        problem = f"YAML reads '&{name}' as an anchor, not as text, and no alias refers to it"
        error = TextError(problem, "put the text in quotes, or remove the anchor", line + 1, column + 1)
        error.rule = "unused-anchor"
        errors.append(error)
    return errors


def _pieces_of(nodes: list[Node], text: str) -> list[Piece]:
    """The line and text of each item of a list."""
    lines = _OTHER_LINE_END.sub("\n", text).split("\n")
    # For each line that YAML counts, its number as everything else counts lines.
    own = list(accumulate((end == "\n" for end in re.findall("[\n\x85\u2028\u2029]", text)), initial=0))
    ends = [*(node.start_mark.line for node in nodes[1:]), len(lines)]
    pieces = []
    for node, end in zip(nodes, ends):
        start = node.start_mark.line
        if start and lines[start - 1].rstrip(" \t") == "-":
            start -= 1  # the dash is alone on the line before
        pieces.append(Piece(own[start] + 1, "\n".join(lines[start : max(end, start + 1)]).rstrip("\n")))
    return pieces


def encoded(value: object, role: Role) -> bytes:
    """The value as MessagePack with sorted keys; of native_functions.yaml in their order, as that of dispatch keys
    counts.

    A `dispatch:` mapping in derivatives.yaml becomes a list of pairs: the order of its rows numbers the Nodes.
    """
    if role == "native":
        return _in_order.encode(value)
    if role == "derivatives" and isinstance(value, dict) and isinstance(value.get("dispatch"), dict):
        value = {**value, "dispatch": {PAIRS: [[key, row] for key, row in value["dispatch"].items()]}}
    return _encoder.encode(value)
