"""TOML, of descriptions and of settings files: parses it, reports an error at its place, and finds the place of a key.

Python's parser keeps no places, so a report searches the text again. A statement ends at the end of its line, unless a
bracket or a multi-line text is open there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from gradmill.model.regex import regex
from gradmill.problems.problem import TextError
from gradmill.specs.text import conflict_marker, decode_text

Path = tuple[str, ...]

_AT = regex(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)
_PROBLEMS = {RecursionError: "it is nested too deep", ValueError: "a number has too many digits"}


def parse_toml(file: str, data: bytes, what: str) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file, and its value. SpecError with the place if it is not TOML. `what`: for the hint."""
    try:
        text = decode_text(data)
        return text, tomllib.loads(text)
    except TextError as error:
        raise error.in_file(file) from error
    except (ValueError, RecursionError) as error:  # numbers with thousands of digits raise ValueError too
        raise (conflict_marker(text) or _syntax(text, error, what)).in_file(file) from error


def _syntax(text: str, error: Exception, what: str) -> TextError:
    problem = _PROBLEMS.get(type(error)) or str(error)
    match = _AT.match(problem)
    line, column = (match[2] or text.count("\n") + 1, match[3] or 1) if match is not None else (1, 1)
    found = f"not TOML: {match[1] if match is not None else problem}"
    return TextError(found, f"{what} is TOML: toml.io has the syntax", int(line), int(column))


_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""  # of a dotted key
_KEY = regex(rf"\s*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*=")
# Brackets, commas and line ends; and texts and comments, in which these have no meaning.
_TOKEN = regex(
    r""""{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|\#[^\n]*+|[\[\]{},\n]""", re.DOTALL
)
_BLANK = regex(r"(?:\s|#[^\n]*)*")
_OPENED = {"[": 1, "{": 1, "]": -1, "}": -1}


def place_in(text: str, path: Sequence[str], needle: str = "") -> tuple[int, int]:
    """Line and column, from 1, of the key at `path`, or of its longest prefix in the text.

    Members of lists are keyed by their indices. A table without a header is at its first key. `needle` is the part of
    the value to point at.
    """
    found = [
        (min(len(written), len(path)), line, statement)
        for line, written, statement in _statements(text)
        if all(one == other for one, other in zip(written, path))
    ]
    depth, line, statement = max(found, key=lambda each: each[0], default=(0, 1, ""))
    at = _offset(statement, [*path[depth:], needle])
    return line + statement.count("\n", 0, at), at - statement.rfind("\n", 0, at)


def path_at(text: str, line: int) -> Path:
    """The path of the key, or of the table's head, at a line, counted from 1; () for a comment or an empty line."""
    found = (path for start, path, own in _statements(text) if start <= line <= start + own.count("\n"))
    return next(found, ())


def comments(text: str) -> Iterator[tuple[int, int, str]]:
    """Each comment of a valid text: its line and column, from 1, and its text."""
    for token in _TOKEN.finditer(text):
        if token[0].startswith("#"):
            start = token.start()
            yield text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start), token[0]


def _offset(statement: str, names: Sequence[str]) -> int:
    """The offset in a statement of the last of the `names` that it contains."""
    at = len(statement) - len(statement.lstrip())
    for name in names:
        if name.isdecimal():
            at = _member(statement, at, int(name))
        elif name:
            pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)" if name[-1:].isalnum() else re.escape(name))
            match = pattern.search(statement, at)
            at = match.start() if match else at
    return at


def _member(statement: str, at: int, number: int) -> int:
    """The offset of a member of the list after `at`; `at` if there is none."""
    left = number
    for token, depth in _nested(statement, at):
        if depth == 1 and token[0] in "[,":
            left -= token[0] == ","
            if left == 0:
                return next(_BLANK.finditer(statement, token.end())).end()
        if depth == 0 and token[0] in "]}":
            break
    return at


def _nested(text: str, at: int = 0) -> Iterator[tuple[re.Match[str], int]]:
    """The tokens of a text after an offset, each with the number of brackets that are open after it."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        depth += _OPENED.get(token[0], 0)
        yield token, depth


def _statements(text: str) -> Iterator[tuple[int, Path, str]]:
    """Each statement of a valid text: its first line, the path of its table or key, its text. A line end within
    brackets does not end it."""
    table: Path = ()
    counts: dict[Path, int] = {}
    start = 0
    for token, depth in _nested(f"{text}\n"):
        if token[0] != "\n" or depth:
            continue
        statement, line = text[start : token.start()], text.count("\n", 0, start) + 1
        start = token.end()
        if key := _KEY.match(statement):
            yield line, _path_of(tomllib.loads(f"{key[1]} = 0"), table, counts), statement
        elif head := tomllib.loads(f"{statement}\n"):
            table = _path_of(head, (), counts)
            yield line, table, statement


def _path_of(value: Any, table: Path, counts: dict[Path, int]) -> Path:
    """The path of the only key of a statement, which is in a table. `counts` has the last index of each list."""
    path = table
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        path = (*path, name)
        if isinstance(value, list):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, str(counts[path]))
    return path
