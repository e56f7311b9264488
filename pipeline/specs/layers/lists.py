"""Entries that stand in lists inside a mapping, `custom:` and the like: cut out of the text, or parsed with all of it.

The items of such a list may be indented, or not. Whatever else the mapping has is not looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pipeline.model.regex import regex
from pipeline.problems.problem import Role, SpecError, TextMistake, nearest
from pipeline.specs.entries import Piece, encoded

if TYPE_CHECKING:
    from yaml.nodes import Node

_KEY = regex(r"([A-Za-z_][\w.-]*):(?:[ ]+(?![|>&*!%@`])(.*))?$")


def cut_lists(text: str, lists: tuple[str, ...]) -> list[Piece] | None:
    """The entries' texts, list after list; None where the text cannot be cut safely."""
    sections = _sections(text)
    if sections is None or any(name in sections and sections[name][1] for name in lists):
        return None
    found: list[Piece] = []
    for name in lists:
        if name in sections:
            pieces = _cut(*sections[name][::2])
            if pieces is None:
                return None
            found += pieces
    return found


def keys_of(text: str) -> list[str] | None:
    """The keys of the mapping, None where they cannot be told without a parser."""
    sections = _sections(text)
    return None if sections is None else list(sections)


def _sections(text: str) -> dict[str, tuple[int, str, list[str]]] | None:
    """For each key of the mapping: the line behind it, what follows it on its own line, the lines below it."""
    found: dict[str, tuple[int, str, list[str]]] = {}
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
        if key is None or key[1] in found:
            return None
        below = []
        found[key[1]] = number + 1, "" if (key[2] or "").startswith("#") else (key[2] or ""), below
    return found


def _cut(line: int, below: list[str]) -> list[Piece] | None:
    """The items of one list."""
    indent = next((len(each) - len(each.lstrip(" ")) for each in below if each.strip(" ") and _is_item(each)), 0)
    mark = " " * indent + "-"
    found: list[Piece] = []
    for number, each in enumerate(below, line):
        if each.startswith(mark) and each[indent + 1 : indent + 2] in ("", " "):
            found.append(Piece(number, each))
        elif found and (not each.strip(" ") or each.startswith(f"{mark[:-1]} ") or each.lstrip(" ").startswith("#")):
            found[-1] = Piece(found[-1].line, f"{found[-1].text}\n{each}")
        elif each.strip(" ") and not each.lstrip(" ").startswith("#"):
            return None
    return [Piece(piece.line, piece.text.rstrip("\n ")) for piece in found]


def _is_item(line: str) -> bool:
    return line.lstrip(" ").startswith("-")


def whole_lists(text: str, lists: tuple[str, ...], role: Role) -> list[tuple[Piece, bytes]]:
    """All entries with their values, by a YAML parser; a TextMistake at its place."""
    from yaml.nodes import ScalarNode, SequenceNode

    from pipeline.specs.values import NodeBudget, plain_value

    mapping = _mapping(text, lists)
    lines = text.split("\n")
    budget = NodeBudget(text)
    found: list[tuple[Piece, bytes]] = []
    for name in lists:
        items = mapping.get(name)
        if items is None or (isinstance(items, ScalarNode) and not items.value):
            continue
        if not isinstance(items, SequenceNode):
            mark = items.start_mark
            raise TextMistake(f"'{name}' is no list of entries", "start every entry with '- '", mark.line + 1, 1)
        for item in items.value:
            start, end = item.start_mark.line, max(item.end_mark.line, item.start_mark.line + 1)
            shown = "\n".join(lines[start:end]).rstrip("\n ")
            value = plain_value(item, budget, role)
            found.append((Piece(start + 1, shown), encoded(value, role)))
    return found


def value_of(text: str, key: str) -> object:
    """What a key of the mapping says, as plain values; None where there is none."""
    sections = _sections(text)
    if sections is not None:
        if key not in sections:
            return None
        _, own, below = sections[key]
        text = "\n".join([f"{key}: {own}", *below])
    from pipeline.specs.values import NodeBudget, plain_value

    node = _mapping(text, (key,)).get(key)
    return None if node is None else plain_value(node, NodeBudget(text))


def _mapping(text: str, wanted: Collection[str]) -> dict[str, Node]:
    """The values of the mapping that a text writes; a TextMistake where it writes none, or a wanted one twice."""
    import yaml
    from yaml.nodes import MappingNode, ScalarNode

    from pipeline.specs.values import Loader, twice

    try:
        node = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise TextMistake(f"not YAML: {error.problem or error.context}", "", line, column) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise TextMistake(f"not YAML: {error}", "", 1, 1) from error
    if not isinstance(node, MappingNode):
        hint = "leave `list` out where the file is a list"
        raise TextMistake("the file is no mapping with lists of entries", hint, 1, 1)
    found: dict[str, Node] = {}
    for key, value in node.value:
        if isinstance(key, ScalarNode):
            if key.value in found and key.value in wanted:
                raise twice(key, key.value)
            found[key.value] = value
    return found


def check_lists(text: str, lists: tuple[str, ...]) -> None:
    """Refuses a file that has none of the lists, or one that is called nearly so; a SpecError."""
    known = keys_of(text)
    keys = list(_mapping(text, lists)) if known is None else known
    missing = [name for name in lists if name not in keys]
    for name in missing:
        hint = nearest(name, [key for key in keys if key not in lists])
        if hint or len(missing) == len(lists):
            raise SpecError(f"there is no list '{name}' in the file", hint or f"it has {', '.join(keys)}")
