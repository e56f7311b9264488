"""Locates problems: `file:line:column`, and the source line there.

Database rows hold no positions. To report a problem, this module parses the entry as YAML again, and searches it for
the field and the text that the problem names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Protocol, get_args

import yaml
from msgspec import Struct
from msgspec.structs import replace
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gradmill.problems.problem import Problem, Role

# The order of files in a report.
ORDER: tuple[Role, ...] = get_args(Role)


class Sources(Protocol):
    """Gives the texts that problems refer to."""

    def path(self, problem: Problem) -> str:
        """The path of the problem's file."""

    def text(self, problem: Problem) -> str:
        """The text of that file, "" if it cannot be read."""

    def entry(self, problem: Problem) -> tuple[int, str] | None:
        """The first line of the problem's entry, and the entry's text."""

    def key(self, problem: Problem) -> tuple[int, int]:
        """Line and column of the key in the set's description that has the error."""

    def origin(self, problem: Problem, line: int) -> tuple[str, int]:
        """The source file and line of a line of the text. Diffs of a spec set may have added the line."""


class Position(Struct, frozen=True, order=True):
    """The position of a problem. Lines and columns count from 1; 0 means the whole file."""

    order: int  # of the file in the set
    file: str
    line: int
    column: int
    shown: str = ""  # the source line as it was read


def position_of(problem: Problem, sources: Sources) -> Position:
    """The most exact position of a problem."""
    line, column = _line_and_column(problem, sources)
    lines = sources.text(problem).split("\n") if line else []
    shown = lines[line - 1] if line and line <= len(lines) else ""
    path, line = sources.origin(problem, line)
    return Position(ORDER.index(problem.role), path, line, column, shown)


def _line_and_column(problem: Problem, sources: Sources) -> tuple[int, int]:
    """The position of a problem in the text as it was read."""
    if problem.role == "template":
        at = _search(sources.text(problem), problem.needle) if problem.needle else None
        line, column = (-1, -1) if at is None else _line_column(sources.text(problem), at)
        return line + 1, column + 1
    if problem.role == "set" and not problem.line:
        return sources.key(problem)
    entry = sources.entry(problem) if problem.entry else None
    if problem.role == "added":
        before = entry[0] - 1 if entry is not None and problem.line else 0
        return before + problem.line, problem.column
    if entry is None:
        return problem.line, problem.column
    line, column = _place_in(entry[1], problem)
    text = sources.text(problem)
    if not text.isascii():  # YAML counted the entry's lines
        start = entry[0] - 1
        line, column = own_place("\n".join(text.split("\n")[start : start + entry[1].count("\n") + 1]), line, column)
    return entry[0] + line, column + 1


def with_safe_fix(problem: Problem, sources: Sources) -> Problem:
    """The problem; without its fix if that would duplicate a key of the mapping, or if YAML would parse the fixed text
    as another value than intended."""
    if not (problem.fix and problem.entry):
        return problem
    entry = sources.entry(problem)
    if entry is None:
        return problem
    if misnames_key(problem):
        duplicate = any(problem.fix[1] in names_in(key) for key in _Entry(entry[1]).keys(problem.field[:-1]))
        return replace(problem, fix=None) if duplicate else problem
    return problem if _parses_as_intended(entry[1], problem, *problem.fix) else replace(problem, fix=None)


def _parses_as_intended(text: str, problem: Problem, wrong: str, right: str) -> bool:
    """Whether YAML reads the fix at its place in the field once it is written into the entry. True if the field is not
    a text."""
    line, column = _place_in(text, problem)
    lines = text.split("\n")
    before, after = lines[line][:column], lines[line][column:]
    lines[line] = before + right + after[len(wrong) :]
    old, new = _Entry(text).field(problem.field), _Entry("\n".join(lines)).field(problem.field)
    if old is None or not isinstance(old[1], ScalarNode):
        return True
    if new is None or not after.startswith(wrong):
        return False
    value = old[1].value
    starts = (match.start() for match in re.finditer(re.escape(wrong), value))
    return any(value[:start] + right + value[start + len(wrong) :] == new[1].value for start in starts)


def with_reference(problem: Problem, sources: Sources) -> Problem:
    """The problem, with the position of its related entry (`see`) added to the hint."""
    if problem.see is None:
        return problem
    role, entry, needle = problem.see
    at = position_of(Problem(role, entry, "", "", needle=needle), sources)
    hint = f"{problem.hint}; " if problem.hint else ""
    return replace(problem, hint=f"{hint}see {at.file}:{at.line}:{at.column}")


def misnames_key(problem: Problem) -> bool:
    """Whether the fix of a problem replaces a name in a key."""
    return problem.fix is not None and bool(problem.field) and problem.fix[0] in names_in(problem.field[-1])


def names_in(key: str) -> list[str]:
    """The names in a key, which separates them by commas."""
    return [name.strip() for name in key.split(",")]


_YAML_ALONE = re.compile("[\x85\u2028\u2029]")
_YAML_LINE_END = re.compile("[\n\x85\u2028\u2029]")


def own_place(text: str, line: int, column: int) -> tuple[int, int]:
    """Converts a line and a column from YAML, counted from 0, to lines that end only with `\\n`."""
    if text.isascii() or not _YAML_ALONE.search(text):
        return line, column
    starts = [0, *(end.end() for end in _YAML_LINE_END.finditer(text))]
    return _line_column(text, min(starts[min(line, len(starts) - 1)] + column, len(text)))


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Entry:
    """The text of an entry and its YAML nodes."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def mapping(self) -> MappingNode | None:
        """The entry's mapping; None if the text is not valid YAML."""
        try:
            node = yaml.compose(self.text, Loader=_LOADER)
        except yaml.YAMLError:
            return None
        item = node.value[0] if isinstance(node, SequenceNode) and node.value else None
        return item if isinstance(item, MappingNode) else None

    def field(self, path: Iterable[str]) -> tuple[Node, Node] | None:
        """The key and the value at `path`, or at its longest prefix in the entry. A name among those of a key, which
        commas separate, stands for the key."""
        deepest = None
        mapping: Node | None = self.mapping
        for name in path:
            if not isinstance(mapping, MappingNode):
                break
            pairs = [(k, v) for k, v in mapping.value if isinstance(k, ScalarNode)]
            exact = (pair for pair in pairs if pair[0].value == name)
            pair = next(exact, None) or next((pair for pair in pairs if name in names_in(pair[0].value)), None)
            if pair is None:
                break
            deepest, mapping = pair, pair[1]
        return deepest

    def keys(self, path: tuple[str, ...]) -> list[str]:
        """The keys of the mapping at `path`."""
        pair = self.field(path)
        mapping = pair[1] if pair is not None else self.mapping
        return (
            [k.value for k, _ in mapping.value if isinstance(k, ScalarNode)] if isinstance(mapping, MappingNode) else []
        )


def field_lines(text: str) -> dict[str, int]:
    """The line of each field's value in an entry, counted from 0; the key `a.b` is the field `b` in the mapping `a`."""
    return dict(_field_lines(_Entry(text).mapping))


def _field_lines(mapping: Node | None) -> Iterator[tuple[str, int]]:
    for key, value in mapping.value if isinstance(mapping, MappingNode) else ():
        if isinstance(key, ScalarNode):
            name = ", ".join(names_in(key.value))
            block = isinstance(value, ScalarNode) and value.style in ("|", ">")
            yield name, value.start_mark.line + block
            yield from ((f"{name}.{inner}", line) for inner, line in _field_lines(value))


def _place_in(text: str, problem: Problem) -> tuple[int, int]:
    """Line and column in the entry, counted from 0."""
    entry = _Entry(text)
    pair = entry.field(problem.field or ("func",)) or entry.field(("name",)) or entry.field(("tag",))
    if pair is None:
        return 0, min(2, len(text))
    key, value = pair
    if problem.at_key and problem.field and key.value == problem.field[-1]:
        return key.start_mark.line, key.start_mark.column
    start, at, end = key.start_mark.index, value.start_mark.index, value.end_mark.index
    if problem.needle:
        from_value = _search(text[at:end], problem.needle)
        if from_value is not None:
            return _line_column(text, at + from_value)
        from_key = _search(text[start:end], problem.needle)
        if from_key is not None:
            return _line_column(text, start + from_key)
        behind = text.find(COMMENT, end) if problem.needle == COMMENT else -1
        if behind >= 0:
            return _line_column(text, behind)
    node = key if problem.field and not isinstance(value, ScalarNode) else value
    if isinstance(node, ScalarNode) and node is value and not value.value:
        node = key
    return node.start_mark.line, node.start_mark.column


_COMMENT = re.compile(r"[ \t]+(#[^\n]*)")
COMMENT = "#"  # also searched for after a value


def comment_after(text: str, field: tuple[str, ...]) -> str:
    """The comment that follows the field's plain value on the same line, with its `#`; "" if none does."""
    pair = _Entry(text).field(field)
    if pair is None or not isinstance(pair[1], ScalarNode) or pair[1].style:
        return ""
    start = pair[1].start_mark.index
    value = text[start : pair[1].end_mark.index].rstrip()
    match = _COMMENT.match(text, start + len(value))
    return match[1] if match is not None else ""


def _search(text: str, needle: str) -> int | None:
    match = re.search(_pattern(needle), text)
    if match is None and (word := re.match(r"\w+\b", needle)) is not None and word.group() != needle:
        return _search(text, word.group())  # YAML folded the text: search for its first word
    return match.start() if match is not None else None


def _pattern(needle: str) -> str:
    """A pattern that matches a piece of a value over several lines, and in quotes of either kind."""
    if re.fullmatch(r"\w+", needle):
        return rf"(?<!\w){needle}(?!\w)"
    words = [re.escape(word) for word in re.split(r"[ \t\n]+", needle) if word]
    return r"\s+".join(words).replace('"', r'\\?"').replace("'", "''?") or re.escape(needle)


def _line_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)
