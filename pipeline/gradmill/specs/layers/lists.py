"""Entries in lists inside a mapping, such as `custom:`: cut out of the text, or parsed with the whole text.

The items of such a list may be indented or not. Other keys of the mapping are ignored.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gradmill.model.regex import regex
from gradmill.problems.problem import Role, SpecError, TextError, nearest
from gradmill.specs.entries import Piece, encoded

if TYPE_CHECKING:
    from yaml.nodes import Node

_KEY = regex(r"([A-Za-z_][\w.-]*):(?:[ ]+(?![|>&*!%@`])(.*))?$")


def cut_lists(text: str, lists: tuple[str, ...]) -> list[Piece] | None:
    """The text of each entry, list after list; None if the text cannot be cut safely."""
    sections = _sections(text)
    if sections is None or any(name in sections and sections[name][1] for name in lists):
        return None
    pieces: list[Piece] = []
    for name in lists:
        if name in sections:
            items = _cut(*sections[name][::2])
            if items is None:
                return None
            pieces += items
    return pieces


def keys_of(text: str) -> list[str] | None:
    """The keys of the mapping; None if only a YAML parser can read them."""
    sections = _sections(text)
    return None if sections is None else list(sections)


def _sections(text: str) -> dict[str, tuple[int, str, list[str]]] | None:
    """For each key of the mapping: the number of the next line, the rest of its own line, the lines below it.

    None if only a YAML parser can read them.
    """
    sections: dict[str, tuple[int, str, list[str]]] = {}
    below: list[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        first = line[:1]
        if first in ("", " ", "#", "-") and not line.startswith("---"):
            if below is not None:
                below.append(line)
            elif line.strip(" ") and first != "#":
                return None
            continue
        key = _KEY.match(line)
        if key is None or key[1] in sections:
            return None
        below = []
        sections[key[1]] = number + 1, "" if (key[2] or "").startswith("#") else (key[2] or ""), below
    return sections


def _cut(line: int, below: list[str]) -> list[Piece] | None:
    """The items of one list that starts at the line `line`; None if it cannot be cut safely."""
    indent = next((len(each) - len(each.lstrip(" ")) for each in below if each.lstrip(" ").startswith("-")), 0)
    mark = " " * indent + "-"
    pieces: list[Piece] = []
    for number, each in enumerate(below, line):
        if each.startswith(mark) and each[indent + 1 : indent + 2] in ("", " "):
            pieces.append(Piece(number, each))
        elif pieces and (not each.strip(" ") or each.startswith(f"{mark[:-1]} ") or each.lstrip(" ").startswith("#")):
            pieces[-1] = Piece(pieces[-1].line, f"{pieces[-1].text}\n{each}")
        elif each.strip(" ") and not each.lstrip(" ").startswith("#"):
            return None
    return [Piece(piece.line, piece.text.rstrip("\n ")) for piece in pieces]


def whole_lists(text: str, lists: tuple[str, ...], role: Role) -> list[tuple[Piece, bytes]]:
    """All entries with their values, read by a YAML parser; raises a TextError at the place of an error."""
    from yaml.nodes import ScalarNode, SequenceNode

    from gradmill.specs.values import NodeBudget, plain_value

    mapping = mapping_of(text, lists)
    lines = text.split("\n")
    budget = NodeBudget(text)
    entries: list[tuple[Piece, bytes]] = []
    for name in lists:
        items = mapping.get(name)
        if items is None or (isinstance(items, ScalarNode) and not items.value):
            continue
        if not isinstance(items, SequenceNode):
            mark = items.start_mark
            raise TextError(f"'{name}' is not a list of entries", "start every entry with '- '", mark.line + 1, 1)
        for item in items.value:
            start, end = item.start_mark.line, max(item.end_mark.line, item.start_mark.line + 1)
            shown = "\n".join(lines[start:end]).rstrip("\n ")
            value = plain_value(item, budget, role)
            entries.append((Piece(start + 1, shown), encoded(value, role)))
    return entries


def value_of(text: str, key: str) -> object:
    """The value of a key of the mapping; None if it has no such key. Raises a TextError at the place of an error."""
    sections = _sections(text)
    if sections is not None:
        if key not in sections:
            return None
        _, own, below = sections[key]
        text = "\n".join([f"{key}: {own}", *below])
    from gradmill.specs.values import NodeBudget, plain_value

    node = mapping_of(text, (key,)).get(key)
    return None if node is None else plain_value(node, NodeBudget(text))


def mapping_of(text: str, wanted: Collection[str]) -> dict[str, Node]:
    """The values of the mapping in `text`; a TextError if it is not a mapping, or has a `wanted` key twice."""
    from yaml.nodes import MappingNode, ScalarNode

    from gradmill.specs.values import duplicate, load_node

    node = load_node(text)
    if not isinstance(node, MappingNode):
        hint = "leave `list` out if the file is a list"
        raise TextError("the file is not a mapping with lists of entries", hint, 1, 1)
    values: dict[str, Node] = {}
    for key, value in node.value:
        if isinstance(key, ScalarNode):
            if key.value in values and key.value in wanted:
                raise duplicate(key, key.value)
            values[key.value] = value
    return values


def check_lists(text: str, lists: tuple[str, ...]) -> None:
    """Raises a SpecError if the file has none of the lists, or if a key resembles the name of a missing one."""
    known = keys_of(text)
    keys = list(mapping_of(text, lists)) if known is None else known
    missing = [name for name in lists if name not in keys]
    for name in missing:
        hint = nearest(name, [key for key in keys if key not in lists])
        if hint or len(missing) == len(lists):
            present = f"it has {', '.join(keys)}" if keys else "the file is empty"
            hint = f"{hint} {present}" if hint else present
            raise SpecError(f"there is no list '{name}' in the file", hint, needle=name)
