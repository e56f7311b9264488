"""Turns YAML nodes into plain values, as upstream's loaders do; every error has its place in the text.

Only PyYAML's safe resolver decides the type of a scalar. Duplicate keys are refused, as upstream does.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gradmill.model.entries import ODD_SET, ODD_VALUE
from gradmill.model.keys import KEYS
from gradmill.model.regex import regex
from gradmill.problems.problem import Role, TextError

_STR = "tag:yaml.org,2002:str"

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C if available

# The tags of lists of pairs.
_LISTS = ("tag:yaml.org,2002:omap", "tag:yaml.org,2002:pairs")
_SET = "tag:yaml.org,2002:set"
# Upstream iterates over the value of this key, so a mapping is allowed, and its keys need not be text.
_LISTED = "output_differentiability"
_DISPATCH = "dispatch"
_READ_WITH_DISPATCH = KEYS["derivatives"]  # the only keys that upstream reads of a derivative with `dispatch:`
_ALIASED_NODES = 50_000  # how many values the aliases of one file may expand to
_MAX_DEPTH = 200  # nested collections; upstream's files nest four deep
_TOO_DEEP = f"collections are nested deeper than {_MAX_DEPTH}", "spec files are lists of flat mappings"
_INT_DIGITS = 100  # PyYAML parses a base-60 number in time quadratic in its length
_CONSTRUCTORS = {f"tag:yaml.org,2002:{name}": f"construct_yaml_{name}" for name in ("bool", "int", "float", "null")}
# Values that no key of a spec file accepts; each is kept as a mapping that cannot be confused with another value.
_OTHER = {"tag:yaml.org,2002:timestamp": "timestamp", "tag:yaml.org,2002:binary": "binary"}


def load_node(text: str) -> Node | None:
    """The YAML node of `text`; None if the text is empty. Raises a TextError if it is not YAML."""
    _check_depth(text)
    try:
        node: Node | None = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        raise _cut_off(text, error) or _unquoted(text, error) or _syntax(error) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise TextError(f"not YAML: {error}", "", 1, 1) from error
    return node


def load_document(text: str) -> list[Node] | None:
    """The items of the list in `text`; None if the text is empty. Raises a TextError if it is not a YAML list."""
    node = load_node(text)
    if node is None:
        return None
    if not isinstance(node, SequenceNode):
        raise text_error(node, "the file is not a list of entries", "start every entry with '- '")
    _check_tag(node, "seq")
    return list(node.value)


def _check_depth(text: str) -> None:
    """Refuses nesting deeper than _MAX_DEPTH. It reads events only: composing nodes recurses once a level."""
    depth = 0
    with suppress(yaml.YAMLError):  # composing the nodes reports these errors
        for event in yaml.parse(text, Loader=Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise text_error(event, *_TOO_DEEP)


def check_written_out(text: str) -> None:
    """Refuses an entry that is an alias of another one: upstream empties the shared entry at its first use."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if depth == 1 and isinstance(event, yaml.AliasEvent):
            raise text_error(event, f"the entry is an alias, '*{event.anchor}', of another one", "write the entry out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def anchors(text: str) -> list[tuple[str, int, int]]:
    """The anchors of scalars without an alias, each with its line and column, counted from 0."""
    unused: dict[str, tuple[str, int, int]] = {}
    for event in yaml.parse(text, Loader=Loader):
        mark, anchor = event.start_mark, getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            unused.pop(str(anchor), None)
        elif isinstance(event, yaml.ScalarEvent) and anchor is not None and mark is not None:
            unused[anchor] = (anchor, mark.line, mark.column)
    return list(unused.values())


_CUT_OFF = regex(r" *(?:- +)?[\w, ]+: +[^\s\"'|>#\[{][^#\n]*?( +#[^\n]*)|[^#:\n]*[^#:\s]( +#[^\n]*)")


def _cut_off(text: str, error: yaml.MarkedYAMLError) -> TextError | None:
    """An error for a plain text that a comment ends although the next line continues it; None if this is not so."""
    lines = text.split("\n")
    for mark in filter(None, (error.context_mark, error.problem_mark)):
        match = _CUT_OFF.fullmatch(lines[mark.line - 1]) if 0 < mark.line < len(lines) else None
        if match is not None:
            group = 1 if match[1] else 2
            column = match.start(group) + len(match[group]) - len(match[group].lstrip()) + 1
            problem = "not YAML: ' #' begins a comment, which ends the text that goes on in the next line"
            return TextError(problem, "put the text in quotes, or remove the comment", mark.line, column)
    return None


_KEY = r" *(?:- +)*[\w,. ]+:"
_NO_SPACE = regex(rf"({_KEY})[^\s:].*")
# A value that begins with a mark of YAML.
_MARKED = regex(rf"""({_KEY} +)([*&!%@`|>{{\["']|[-?](?= )).*""")


def _unquoted(text: str, error: yaml.MarkedYAMLError) -> TextError | None:
    """An error for a line that YAML reads otherwise than meant: no space follows its key, or its value begins with a
    mark of YAML. None if there is no such line where YAML stopped."""
    mark, lines = error.problem_mark, text.split("\n")
    if mark is None or mark.line >= len(lines):
        return None
    problem = str(error.problem)
    before = error.context_mark if "expected ':'" in problem else None
    at = before.line if before is not None else mark.line - 1
    stopped = before is not None or (at >= 0 and "mapping values" in problem)
    match = _NO_SPACE.fullmatch(lines[at]) if stopped else None
    if match is not None:
        missing = f"not YAML: no space after '{match[1].lstrip(' -')}'"
        return TextError(missing, "write one between a key and its value", at + 1, match.end(1) + 1)
    match = _MARKED.fullmatch(lines[mark.line])
    if match is None or (match[2] in "{[\"'" and "expected key" not in problem):
        return None
    hint = f"put the text in quotes: '{match[2]}' at its start is a mark of YAML"
    if match[2] in "\"'":
        hint = "put the whole text in quotes: a text of YAML ends with the quotes that it begins with"
    return TextError(f"not YAML: {problem}", hint, mark.line + 1, match.end(1) + 1)


def _syntax(error: yaml.MarkedYAMLError) -> TextError:
    problem = str(error.problem)
    ended = "unexpected end of stream" in problem  # then its start is more useful than the end of the file
    keyless = error.context_mark is not None and "could not find expected ':'" in problem
    mark = (error.context_mark if ended or keyless else None) or error.problem_mark or error.context_mark
    context = str(error.context or "")
    text = f"{context} {problem}" if context.startswith("expected") else f"{problem} {context}".rstrip()
    hint = "quote the text, or line the key up with its neighbours" if "mapping values" in problem else ""
    hint = "write key: value" if keyless else hint
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return TextError(f"not YAML: {text}", hint, line, column)


class PlainValues:
    """Turns the YAML nodes of a text into dicts, lists, text, numbers, booleans and None. `role` is that of the file if
    they are entries, else None.

    Keys that are not text are read as text in values that upstream ignores, and refused in all others.
    """

    def __init__(self, text: str, role: Role | None = None) -> None:
        self._role = role
        self._any_key = role == "tags"
        self._left = len(text) + _ALIASED_NODES  # how many values the text may expand to
        self._open: set[int] = set()

    def of(self, node: Node) -> object:
        """The value of a node; raises a TextError for one that upstream refuses."""
        is_definition = isinstance(node, MappingNode) and self._role == "derivatives"
        keys = [key.value for key, _ in node.value] if is_definition else []
        return self._build(node, _READ_WITH_DISPATCH if _DISPATCH in keys else None)

    def _build(self, node: Node, read: Collection[str] | None = None) -> object:
        """The value of a node. `read` are the keys of a mapping that upstream reads, None if it reads all."""
        if isinstance(node, ScalarNode):
            return node.value if node.tag == _STR else _scalar(node)
        self._left -= 1 + len(node.value)
        if self._left < 0 or id(node) in self._open:
            raise text_error(node, "aliases expand without end", "write the values out")
        if len(self._open) >= _MAX_DEPTH:
            raise text_error(node, *_TOO_DEEP)
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
                    raise text_error(key_node, f"key {key_node.value} is not text", "quote it")
                key = str(key_node.value)
            if key in mapping:
                raise duplicate(key_node, key)
            listed = key == _LISTED and isinstance(value_node, MappingNode) and not _has_text_keys(value_node)
            mapping[key] = self._keys(value_node) if listed else self._build(value_node)
        self._any_key = outside
        return mapping

    def _keys(self, node: MappingNode) -> list[object]:
        """The keys of a mapping; its values are checked, and ignored."""
        if node.tag != _SET:
            _check_tag(node, "map")
        keys: list[object] = []
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key in keys:
                raise duplicate(key_node, key)
            keys.append(key)
            self._build(value_node)
        return keys

    def _key(self, node: Node) -> object:
        key = self._build(node)
        if not isinstance(node, ScalarNode):
            raise text_error(node, "a collection is used as a key", "write key: value")
        return key

    def _sequence(self, node: SequenceNode) -> object:
        if node.tag in _LISTS and all(isinstance(item, MappingNode) and len(item.value) == 1 for item in node.value):
            return [[self._build(part) for part in item.value[0]] for item in node.value]
        _check_tag(node, "seq")
        return [self._build(item) for item in node.value]


def _scalar(node: ScalarNode) -> object:
    name = _CONSTRUCTORS.get(node.tag)
    if name is not None and (len(node.value) <= _INT_DIGITS or not node.tag.endswith(":int")):
        try:
            value: object = getattr(_constructor, name)(node)
        except (ValueError, LookupError) as error:
            raise text_error(node, f"not a value: '{node.value}'", "quote it") from error
        return value if not isinstance(value, int) or abs(value) < 1 << 63 else {f"{ODD_VALUE}int": node.value}
    other = "int" if name is not None else _OTHER.get(node.tag)
    if other is None:
        raise text_error(node, f"unknown YAML tag '{node.tag}'", "remove the tag, or quote the text")
    return {f"{ODD_VALUE}{other}": node.value}


def _has_text_keys(node: MappingNode) -> bool:
    return all(key.tag == _STR for key, _ in node.value)


def duplicate(node: ScalarNode, key: object) -> TextError:
    """The error for a duplicate key in a mapping."""
    return text_error(node, f"duplicate key '{key}' in one mapping", "remove one of them")


def _check_tag(node: Node, expected: str) -> None:
    if node.tag != f"tag:yaml.org,2002:{expected}":
        raise text_error(node, f"unknown YAML tag '{node.tag}'", "remove the tag")


def text_error(at: Node | yaml.Event, problem: str, hint: str) -> TextError:
    """An error at the start of a node, or of an event."""
    mark = at.start_mark
    assert mark is not None
    return TextError(problem, hint, mark.line + 1, mark.column + 1)


_constructor = yaml.constructor.SafeConstructor()
