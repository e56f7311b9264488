"""Problems to `file:line:column`, with the line they point at.

Artifacts keep no columns. When there is something to report, the entry is looked at again as YAML, and the field
and the piece of text that the problem names are found in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import yaml
from msgspec import Struct
from msgspec.structs import astuple
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pipeline.model.specs import SpecEntry
from pipeline.problems.problem import Problem, Role, SpecError
from pipeline.specs.spec_set import ROLES, SpecSet
from pipeline.specs.text import decode_text
from pipeline.specs.values import Loader

MAX_SHOWN = 100  # problems; who has more has made one mistake many times


class Place(Struct, frozen=True, order=True):
    """Where a problem is; lines and columns count from 1, 0 stands for the file as a whole."""

    order: int  # of the file in the set
    file: str
    line: int
    column: int


class Locator:
    """Finds the places of problems in one spec set."""

    def __init__(self, specs: SpecSet) -> None:
        self._specs = specs
        self._lines: dict[Role, list[str]] = {}
        self._entries: dict[Role, tuple[SpecEntry, ...]] = {}

    def place(self, problem: Problem) -> Place:
        """Where `problem` is, as exactly as can be told."""
        if problem.role == "template":
            path = str(self._specs.templates[problem.file])
            line, column = _find("".join(self._template(problem.file)), problem.needle) if problem.needle else (0, 0)
            return Place(len(ROLES), path, line, column)
        order = ROLES.index(problem.role) if problem.role in ROLES else len(ROLES)
        path = str(self._specs.files[problem.role])
        if problem.entry < 0:
            return Place(order, path, problem.line, problem.column)
        entry = self.entries(problem.role)[problem.entry]
        line, column = _place_in(entry.text, problem)
        return Place(order, path, entry.line + line, column + 1)

    def source(self, problem: Problem, place: Place) -> str:
        """The line that a place is in, "" when there is none."""
        if not place.line:
            return ""
        lines = self._template(problem.file) if problem.role == "template" else self._text(problem.role)
        return lines[place.line - 1].rstrip("\n") if place.line <= len(lines) else ""

    def entries(self, role: Role) -> tuple[SpecEntry, ...]:
        """The entries of a file as it is now."""
        if role not in self._entries:
            from pipeline.stages import specs

            self._entries[role] = specs.run(self._specs.files[role].read(), role, "", None).file.entries
        return self._entries[role]

    def _text(self, role: Role) -> list[str]:
        if role not in self._lines:
            try:
                self._lines[role] = decode_text(self._specs.files[role].read()).splitlines()
            except (OSError, KeyError, SpecError):
                self._lines[role] = []
        return self._lines[role]

    def _template(self, name: str) -> list[str]:
        try:
            return decode_text(self._specs.templates[name].read()).splitlines(keepends=True)
        except (OSError, KeyError, SpecError):
            return []


class _Entry:
    """One entry's text and its YAML nodes."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def mapping(self) -> MappingNode | None:
        try:
            node = yaml.compose(self.text, Loader=Loader)
        except yaml.YAMLError:
            return None
        item = node.value[0] if isinstance(node, SequenceNode) and node.value else None
        return item if isinstance(item, MappingNode) else None

    def field(self, path: Iterable[str]) -> tuple[Node, Node] | None:
        """The key and the value at `path`; as deep as it goes."""
        found = None
        mapping: Node | None = self.mapping
        for name in path:
            if not isinstance(mapping, MappingNode):
                break
            pair = next(((k, v) for k, v in mapping.value if isinstance(k, ScalarNode) and k.value == name), None)
            if pair is None:
                break
            found, mapping = pair, pair[1]
        return found


def _place_in(text: str, problem: Problem) -> tuple[int, int]:
    """Line and column, counted from 0, within an entry."""
    entry = _Entry(text)
    pair = entry.field(problem.field or ("func",)) or entry.field(("name",)) or entry.field(("tag",))
    if pair is None:
        return 0, min(2, len(text))
    key, value = pair
    if problem.at_key and problem.field and key.value == problem.field[-1]:
        return key.start_mark.line, key.start_mark.column
    start, end = _offset(text, key), _offset(text, value, end=True)
    if problem.needle:
        from_value = _search(text[_offset(text, value) : end], problem.needle)
        if from_value is not None:
            return _line_column(text, _offset(text, value) + from_value)
        from_key = _search(text[start:end], problem.needle)
        if from_key is not None:
            return _line_column(text, start + from_key)
    node = key if problem.field and not isinstance(value, ScalarNode) else value
    if isinstance(node, ScalarNode) and node is value and not value.value:
        node = key
    return node.start_mark.line, node.start_mark.column


def _offset(text: str, node: Node, *, end: bool = False) -> int:
    mark = node.end_mark if end else node.start_mark
    at = 0
    for _ in range(mark.line):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return min(at + mark.column, len(text))


def _search(text: str, needle: str) -> int | None:
    pattern = rf"(?<!\w){re.escape(needle)}(?!\w)" if re.fullmatch(r"\w+", needle) else re.escape(needle)
    match = re.search(pattern, text)
    if match is None and (word := re.match(r"\w+\b", needle)) is not None and word.group() != needle:
        return _search(text, word.group())  # the text is folded: its first word will do
    return match.start() if match is not None else None


def _find(text: str, needle: str) -> tuple[int, int]:
    at = _search(text, needle)
    if at is None:
        return 0, 0
    line, column = _line_column(text, at)
    return line + 1, column + 1


def _line_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)


def render(problems: Iterable[Problem], specs: SpecSet, *, strict: bool = False) -> str:
    """All problems as text, in the order of the files: place, op, field, what is wrong, the line, what to do."""
    locator = Locator(specs)
    # By all that they say: the order of a set depends on the hash seed.
    found = sorted(set(problems), key=lambda p: (p.warning, p.role, p.entry, p.line, astuple(p)))
    shown = ((locator.place(p), p) for p in found[:MAX_SHOWN])
    placed = sorted(shown, key=lambda pair: (pair[0], pair[1].problem))
    text = "".join(_render(place, problem, locator.source(problem, place)) for place, problem in placed)
    errors = sum(not p.warning for p in found)
    counts = [
        f"{n} {what}{'s' if n > 1 else ''}" for n, what in ((errors, "error"), (len(found) - errors, "warning")) if n
    ]
    note = " (strict=1: warnings are errors)" if strict and len(found) > errors else ""
    note += f", of which these are {MAX_SHOWN}" if len(found) > MAX_SHOWN else ""
    return f"{text}{' and '.join(counts)}{note}\n"


def _render(place: Place, problem: Problem, source: str) -> str:
    where = place.file if not place.line else f"{place.file}:{place.line}:{max(place.column, 1)}"
    what = [part for part in (problem.op, ": ".join(problem.field), problem.problem) if part]
    lines = [f"{where}: {'warning' if problem.warning else 'error'}: {': '.join(what)}"]
    if source:
        number = f"{place.line:>6}"
        indent = "".join("\t" if c == "\t" else " " for c in source[: max(place.column, 1) - 1])
        lines += [f"{number} | {source[:300]}"]
        if place.column <= 300:
            lines += [f"{' ' * len(number)} | {indent}^"]
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines) + "\n"
