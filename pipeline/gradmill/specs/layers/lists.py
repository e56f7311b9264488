"""Entries in lists inside a mapping, such as `custom:`: cut out of the text, or parsed with the whole text.

The items of such a list may be indented or not. Other keys of the mapping are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from gradmill.model.regex import regex
from gradmill.problems.problem import Role, SpecError, TextError, nearest
from gradmill.specs.entries import Piece, cut, parse_whole

_KEY = regex(r"([A-Za-z_][\w.-]*):(?:[ ]+(?![|>&*!%@`])(.*))?")
_LINE = regex(r"^(?:[^ #\n-]|---).*$", re.MULTILINE)  # one that is neither of a list, nor of the value of a key above
_TEXT = regex(r"^ *[^ #\n]", re.MULTILINE)


def cut_lists(text: str, lists: tuple[str, ...]) -> list[Piece] | None:
    """The text of each entry, list after list; None if the text cannot be cut safely."""
    values, rows = _sections(text), text.split("\n")
    pieces: list[Piece] = []
    for own in [] if values is None else [values[name] for name in lists if _TEXT.search(values.get(name, ""))]:
        indent = len(_TEXT.findall(own)[0]) - 1
        items = cut(re.sub(rf"^ {{0,{indent}}}", "", own, flags=re.MULTILINE))
        if items is None or (indent and re.search(rf"^ {{0,{indent - 1}}}[^ #\n]", own, re.MULTILINE)):
            return None
        for item in items:
            lines = rows[item.line - 1 : item.line + item.text.rstrip("\n ").count("\n")]
            pieces.append(Piece(item.line, "\n".join(lines)))
    return None if values is None else pieces


def whole_lists(text: str, lists: tuple[str, ...], role: Role) -> list[tuple[Piece, bytes]]:
    """All entries with their values, read by a YAML parser; raises a TextError at the place of an error."""
    values, entries = values_of(text, lists), []
    for name in lists:
        try:
            entries += parse_whole(values[name], role) if _TEXT.search(values.get(name, "")) else []
        except TextError as error:
            error.problem = error.problem.replace("the file is not a list", f"'{name}' is not a list")
            raise
    return entries


def values_of(text: str, wanted: Collection[str] = ()) -> dict[str, str]:
    """The text of the value of each key of the mapping, alone, at its place. A TextError if the text is not a mapping,
    or has a `wanted` key twice."""
    sections = _sections(text)
    if sections is not None:
        return sections
    from yaml.nodes import MappingNode, ScalarNode

    from gradmill.specs.values import duplicate, load_node

    node = load_node(text)
    if not isinstance(node, MappingNode):
        hint = "leave `list` out if the file is a list"
        raise TextError("the file is not a mapping with lists of entries", hint, 1, 1)
    values: dict[str, str] = {}
    for key, value in node.value:
        if isinstance(key, ScalarNode):
            if key.value in values and key.value in wanted:
                raise duplicate(key, key.value)
            values[key.value] = _alone(text, value.start_mark.index, value.end_mark.index)
    return values


def _sections(text: str) -> dict[str, str] | None:
    """The same, read line by line; None if only a YAML parser can read them."""
    heads = [*_LINE.finditer(text)]
    keys = [_KEY.fullmatch(head[0]) for head in heads]
    names = [key[1] for key in keys if key is not None]
    starts = [head.start() for head in heads]
    if len({*names}) < len(heads) or _TEXT.search(text, 0, min(starts, default=len(text))):
        return None
    ends = [*starts[1:], len(text)]
    return {name: _alone(text, at + len(name) + 1, end) for name, at, end in zip(names, starts, ends)}


def _alone(text: str, start: int, end: int) -> str:
    """A part of a text at its place: nothing but space is before it."""
    line = text.rfind("\n", 0, start) + 1
    return "\n" * text.count("\n", 0, line) + " " * (start - line) + text[start:end]


def value_of(text: str, key: str) -> object:
    """The value of a key of the mapping; None if it has no such key. Raises a TextError at the place of an error."""
    from gradmill.specs.values import PlainValues, load_node

    own = values_of(text, (key,)).get(key, "")
    node = load_node(own)
    return None if node is None else PlainValues(own).of(node)


def check_lists(text: str, lists: tuple[str, ...]) -> list[tuple[str, str]]:
    """The lists that a file lacks, each with a hint. Raises a SpecError if it has none of the lists, or if a key
    resembles the name of a missing one."""
    keys = [*values_of(text, lists)]
    others = [name for name in keys if name not in lists]
    missing = [name for name in lists if name not in keys]
    for name in missing:
        hint = nearest(name, others)
        if hint or len(missing) == len(lists):
            present = f"it has {', '.join(keys)}" if keys else "the file is empty"
            raise SpecError(f"there is no list '{name}' in the file", f"{hint} {present}".lstrip(), needle=name)
    return [(name, f"it has {', '.join(others)}") for name in missing]
