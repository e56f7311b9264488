"""Entries in lists inside a mapping, such as `custom:`: cut out of the text, or parsed with the whole text.

The items of such a list may be indented or not. Other keys of the mapping are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from gradmill.model.regex import regex
from gradmill.problems.problem import Role, SpecError, TextError, nearest
from gradmill.specs.entries import Piece, cut, encoded

if TYPE_CHECKING:
    from yaml.nodes import Node

_KEY = regex(r"([A-Za-z_][\w.-]*):(?:[ ]+(?![|>&*!%@`])(.*))?")
_LINE = regex(r"^(?:[^ #\n-]|---).*$", re.MULTILINE)  # one that is neither of a list, nor of the value of a key above
_TEXT = regex(r"^ *[^ #\n]", re.MULTILINE)


def cut_lists(text: str, lists: tuple[str, ...]) -> list[Piece] | None:
    """The text of each entry, list after list; None if the text cannot be cut safely."""
    sections = _sections(text)
    pieces: list[Piece] = []
    for name in lists:
        if sections is None:
            return None
        line, own, below = sections.get(name, (0, "", ""))
        first = _TEXT.search(below)
        indent = len(first[0]) - 1 if first is not None else 0
        less = re.search(rf"^ {{0,{indent - 1}}}[^ #\n]", below, re.MULTILINE) if indent else None
        items = cut(re.sub(rf"^ {{0,{indent}}}", "", below, flags=re.MULTILINE)) if first is not None else []
        if own or less is not None or items is None:
            return None
        rows = below.split("\n")
        for start, cut_text in ((item.line - 1, item.text.rstrip("\n ")) for item in items):
            pieces.append(Piece(line + start, "\n".join(rows[start : start + cut_text.count("\n") + 1])))
    return pieces


def keys_of(text: str) -> list[str] | None:
    """The keys of the mapping; None if only a YAML parser can read them."""
    sections = _sections(text)
    return None if sections is None else list(sections)


def _sections(text: str) -> dict[str, tuple[int, str, str]] | None:
    """For each key of the mapping: the number of the next line, the rest of its own line, the lines below it.

    None if only a YAML parser can read them.
    """
    heads = [*_LINE.finditer(text)]
    keys = [_KEY.fullmatch(head[0]) for head in heads]
    names = {key[1] for key in keys if key is not None}
    starts = [head.start() for head in heads]
    if len(names) < len(heads) or _TEXT.search(text, 0, min(starts, default=len(text))):
        return None
    ends = [*starts[1:], len(text)]
    found = ((key, head.end(), end) for key, head, end in zip(keys, heads, ends) if key is not None)
    return {
        key[1]: (text.count("\n", 0, at) + 2, "" if (key[2] or "#")[0] == "#" else key[2], text[at + 1 : end])
        for key, at, end in found
    }


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
        text = f"{key}: {own}\n{below}"
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


def check_lists(text: str, lists: tuple[str, ...]) -> list[tuple[str, str]]:
    """The lists that a file lacks, each with a hint. Raises a SpecError if it has none of the lists, or if a key
    resembles the name of a missing one."""
    known = keys_of(text)
    keys = list(mapping_of(text, lists)) if known is None else known
    missing = [name for name in lists if name not in keys]
    for name in missing:
        hint = nearest(name, [key for key in keys if key not in lists])
        if hint or len(missing) == len(lists):
            present = f"it has {', '.join(keys)}" if keys else "the file is empty"
            hint = f"{hint} {present}" if hint else present
            raise SpecError(f"there is no list '{name}' in the file", hint, needle=name)
    others = ", ".join(name for name in keys if name not in lists)
    return [(name, f"it has {others}") for name in missing]
