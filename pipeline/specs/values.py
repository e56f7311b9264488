"""YAML nodes to plain values, as upstream's loaders see them, with places for every mistake.

Only PyYAML's safe resolver decides what a scalar is. Duplicate keys are refused, as upstream does.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pipeline.model.entries import ODD_SET, ODD_VALUE
from pipeline.model.regex import regex
from pipeline.problems.problem import Role, TextMistake
from pipeline.specs.plain import WORDS
from pipeline.specs.text import MAX_DEPTH, may_be_deep, too_deep

_STR = "tag:yaml.org,2002:str"

_WORD_TAGS = {bool: "tag:yaml.org,2002:bool", type(None): "tag:yaml.org,2002:null"}


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader, in C where it has one, with a shortcut for text that starts with a letter."""

    def resolve(self, kind: type, value: str, implicit: Any) -> str:
        """The tag of a node, as PyYAML gives it.

        By their first letter PyYAML would look at every plain scalar that starts like one of the `WORDS`.
        """
        if kind is ScalarNode and implicit[0] and value[:1].isalpha():
            return _WORD_TAGS[type(WORDS[value])] if value in WORDS else _STR
        return str(super().resolve(kind, value, implicit))


# What makes a list of pairs.
_LISTS = ("tag:yaml.org,2002:omap", "tag:yaml.org,2002:pairs")
_SET = "tag:yaml.org,2002:set"
# Whatever this key has, upstream iterates over it: a mapping may have keys that are no text.
_LISTED = "output_differentiability"
_DISPATCH = "dispatch"
_READ_WITH_DISPATCH = ("name", _DISPATCH, _LISTED)  # of a derivative that has it
_ALIASED_NODES = 50_000  # what the aliases of one file may stand for
_INT_DIGITS = 100  # PyYAML's time for numbers to the base 60 grows with the square of their length
_CONSTRUCTORS = {
    "tag:yaml.org,2002:bool": "construct_yaml_bool",
    "tag:yaml.org,2002:int": "construct_yaml_int",
    "tag:yaml.org,2002:float": "construct_yaml_float",
    "tag:yaml.org,2002:null": "construct_yaml_null",
}
# Values that no key of a spec file takes; kept as a mapping so that they are mistaken for nothing else.
_OTHER = {"tag:yaml.org,2002:timestamp": "timestamp", "tag:yaml.org,2002:binary": "binary"}


def load_document(text: str) -> list[Node] | None:
    """The items of the list that `text` writes; None when the text writes nothing."""
    if may_be_deep(text):
        _check_depth(text)
    try:
        node = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        raise _cut_off(text, error) or _syntax(error) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise TextMistake(f"not YAML: {error}", "", 1, 1) from error
    if node is None:
        return None
    if not isinstance(node, SequenceNode):
        mark = node.start_mark
        raise TextMistake(
            "the file is not a list of entries", "start every entry with '- '", mark.line + 1, mark.column + 1
        )
    _check_tag(node, "seq")
    return list(node.value)


def _check_depth(text: str) -> None:
    """Refuses bottomless nesting, by events: who composes values of them needs a level of the stack for each."""
    depth = 0
    with suppress(yaml.YAMLError):  # which who composes finds again
        for event in yaml.parse(text, Loader=Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                assert event.start_mark is not None
                raise too_deep(event.start_mark.line + 1, event.start_mark.column + 1)


def check_written_out(text: str) -> None:
    """Refuses an entry that is an alias of another one: upstream takes the one entry apart, and finds nothing then."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if depth == 1 and isinstance(event, yaml.AliasEvent):
            mark = event.start_mark
            assert mark is not None
            problem = f"the entry is an alias, '*{event.anchor}', of another one"
            raise TextMistake(problem, "write the entry out", mark.line + 1, mark.column + 1)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def anchors(text: str) -> list[tuple[str, int, int]]:
    """The anchors of scalars that no alias refers to, each with its line and column, counted from 0."""
    found: dict[str, tuple[str, int, int]] = {}
    for event in yaml.parse(text, Loader=Loader):
        mark, anchor = event.start_mark, getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            found.pop(str(anchor), None)
        elif isinstance(event, yaml.ScalarEvent) and anchor is not None and mark is not None:
            found[anchor] = (anchor, mark.line, mark.column)
    return list(found.values())


_CUT_OFF = regex(r" *(?:- +)?[\w, ]+: +[^\s\"'|>#\[{][^#\n]*?( +#[^\n]*)|[^#:\n]*[^#:\s]( +#[^\n]*)")


def _cut_off(text: str, error: yaml.MarkedYAMLError) -> TextMistake | None:
    """The mistake of a text that a comment ends, while it goes on in the next line; None where there is none such."""
    lines = text.split("\n")
    for mark in filter(None, (error.context_mark, error.problem_mark)):
        found = _CUT_OFF.fullmatch(lines[mark.line - 1]) if 0 < mark.line < len(lines) else None
        if found is not None:
            group = 1 if found[1] else 2
            column = found.start(group) + len(found[group]) - len(found[group].lstrip()) + 1
            problem = "not YAML: ' #' begins a comment, which ends the text that goes on in the next line"
            return TextMistake(problem, "put the text in quotes, or remove the comment", mark.line, column)
    return None


def _syntax(error: yaml.MarkedYAMLError) -> TextMistake:
    problem = str(error.problem)
    ended = "unexpected end of stream" in problem  # where it began tells more than where the file ends
    mark = (error.context_mark if ended else None) or error.problem_mark or error.context_mark
    context = str(error.context or "")
    text = f"{context} {problem}" if context.startswith("expected") else f"{problem} {context}".rstrip()
    hint = "quote the text, or line the key up with its neighbours" if "mapping values" in problem else ""
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return TextMistake(f"not YAML: {text}", hint, line, column)


class NodeBudget:
    """How many values a file may expand to: no text writes more than it has characters, but aliases repeat."""

    def __init__(self, text: str) -> None:
        self._left = len(text) + _ALIASED_NODES

    def take(self, node: Node, count: int) -> None:
        """Refuses `node` when the file has no `count` values left."""
        self._left -= count
        if self._left < 0:
            raise _at(node, "aliases expand without end", "write the values out")


def plain_value(node: Node, budget: NodeBudget, role: Role | None = None) -> object:
    """Dicts, lists, text, numbers, booleans and None: an entry of a role's file, or any other value. What upstream does
    not look at may have keys that are not text; they are read as text."""
    keys = [key.value for key, _ in node.value] if isinstance(node, MappingNode) and role == "derivatives" else []
    return _Builder(role == "tags", budget).build(node, _READ_WITH_DISPATCH if _DISPATCH in keys else None)


class _Builder:
    def __init__(self, any_key: bool, budget: NodeBudget) -> None:
        self._any_key = any_key
        self._budget = budget
        self._open: set[int] = set()

    def build(self, node: Node, read: Collection[str] | None = None) -> object:
        """The value. `read`: of a mapping, the only keys that upstream looks at, where it leaves others alone."""
        if isinstance(node, ScalarNode):
            return node.value if node.tag == _STR else _scalar(node)
        self._budget.take(node, 1 + len(node.value))
        if id(node) in self._open:
            raise _at(node, "aliases expand without end", "write the values out")
        if len(self._open) >= MAX_DEPTH:
            raise too_deep(node.start_mark.line + 1, node.start_mark.column + 1)
        self._open.add(id(node))
        if isinstance(node, MappingNode):
            value = self._mapping(node, read)
        else:
            assert isinstance(node, SequenceNode)
            value = self._sequence(node)
        self._open.discard(id(node))
        return value

    def _mapping(self, node: MappingNode, read: Collection[str] | None) -> object:
        if node.tag == _SET:
            return {ODD_SET: self._keys(node)}
        _check_tag(node, "map")
        mapping: dict[str, object] = {}
        outside = self._any_key
        for key_node, value_node in node.value:
            key = self._key(key_node)
            self._any_key = outside or (read is not None and key not in read)
            if not isinstance(key, str):
                if not self._any_key:
                    raise _at(key_node, f"key {key_node.value} is not text", "quote it")
                key = str(key_node.value)
            if key in mapping:
                raise twice(key_node, key)
            listed = key == _LISTED and isinstance(value_node, MappingNode) and not _has_text_keys(value_node)
            mapping[key] = self._keys(value_node) if listed else self.build(value_node)
        self._any_key = outside
        return mapping

    def _keys(self, node: MappingNode) -> list[object]:
        """The keys of a mapping whose values count for nothing, but must be right."""
        if node.tag != _SET:
            _check_tag(node, "map")
        keys: list[object] = []
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key in keys:
                raise twice(key_node, key)
            keys.append(key)
            self.build(value_node)
        return keys

    def _key(self, node: Node) -> object:
        key = self.build(node)
        if not isinstance(node, ScalarNode):
            raise _at(node, "a collection is used as a key", "write key: value")
        return key

    def _sequence(self, node: SequenceNode) -> object:
        if node.tag in _LISTS and all(isinstance(item, MappingNode) and len(item.value) == 1 for item in node.value):
            return [[self.build(part) for part in item.value[0]] for item in node.value]
        _check_tag(node, "seq")
        return [self.build(item) for item in node.value]


def _scalar(node: ScalarNode) -> object:
    name = _CONSTRUCTORS.get(node.tag)
    if name is not None and (len(node.value) <= _INT_DIGITS or not node.tag.endswith(":int")):
        try:
            value: object = getattr(_constructor, name)(node)
        except (ValueError, LookupError) as error:
            raise _at(node, f"not a value: '{node.value}'", "quote it") from error
        return value if not isinstance(value, int) or abs(value) < 1 << 63 else {f"{ODD_VALUE}int": node.value}
    other = "int" if name is not None else _OTHER.get(node.tag)
    if other is None:
        raise _at(node, f"unknown YAML tag '{node.tag}'", "remove the tag, or quote the text")
    return {f"{ODD_VALUE}{other}": node.value}


def _has_text_keys(node: MappingNode) -> bool:
    return all(key.tag == _STR for key, _ in node.value)


def twice(node: ScalarNode, key: object) -> TextMistake:
    """What is wrong with a key that its mapping has already."""
    return _at(node, f"key '{key}' stands twice in one mapping", "remove one of them")


def _check_tag(node: Node, expected: str) -> None:
    if node.tag != f"tag:yaml.org,2002:{expected}":
        raise _at(node, f"unknown YAML tag '{node.tag}'", "remove the tag")


def _at(node: Node, problem: str, hint: str) -> TextMistake:
    return TextMistake(problem, hint, node.start_mark.line + 1, node.start_mark.column + 1)


_constructor = yaml.constructor.SafeConstructor()
