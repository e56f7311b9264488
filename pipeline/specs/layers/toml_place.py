"""Where a key stands in a TOML file: Python's parser keeps no places, so that the text is looked at again for a report.

A statement ends where its line does, unless a bracket or a text of several lines is open there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.model.regex import regex

Path = tuple[str, ...]

PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""  # of a dotted key
_KEY = regex(rf"\s*({PART}(?:[ \t]*\.[ \t]*{PART})*)[ \t]*=")
# Brackets, commas and line ends; and what these are nothing of their own in, texts and comments.
_TOKEN = regex(
    r""""{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|\#[^\n]*+|[\[\]{},\n]""", re.DOTALL
)


def place_in(text: str, path: Sequence[str], needle: str = "") -> tuple[int, int]:
    """Line and column, from 1, of the key at `path`, as deep as it is there. Members of lists go by their numbers. Of a
    table without a header, that of its first key.

    `needle` is a piece of the value to point at.
    """
    wanted = tuple(path)
    best: tuple[int, int, str] = (0, 1, "")
    for line, found, statement in _statements(text):
        shared = min(len(found), len(wanted))
        if wanted[:shared] == found[:shared] and (shared > best[0] or not best[2]):
            best = (shared, line, statement)
    depth, line, statement = best
    at = _offset(statement, [*wanted[depth:], needle])
    return line + statement.count("\n", 0, at), at - statement.rfind("\n", 0, at)


def _offset(statement: str, names: Sequence[str]) -> int:
    """Where the last of the `names` that is there stands in a statement."""
    at = len(statement) - len(statement.lstrip())
    for name in names:
        if name.isdecimal():
            at = _member(statement, at, int(name))
        elif name:
            found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)" if name[-1:].isalnum() else re.escape(name))
            match = found.search(statement, at)
            at = match.start() if match else at
    return at


_BLANK = regex(r"(?:\s|#[^\n]*)*")


def _member(statement: str, at: int, number: int) -> int:
    """Where a member of the list behind `at` stands; `at` where there is none."""
    depth, left = 0, number
    for match in _TOKEN.finditer(statement, at):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth == 1 and match[0] in "[,":
            left -= match[0] == ","
            if left == 0:
                behind = _BLANK.match(statement, match.end())
                return behind.end() if behind else match.end()
        if depth == 0 and match[0] in "]}":
            break
    return at


def _statements(text: str) -> Iterator[tuple[int, Path, str]]:
    """Each statement: its first line, the path of the table or key that it writes, its text."""
    table: Path = ()
    counts: dict[Path, int] = {}
    for line, statement in _cut(text):
        value = tomllib.loads(f"{statement}\n")
        if not value:
            continue
        if statement.lstrip().startswith("["):
            table = path = _table(_path_of(value), statement.lstrip().startswith("[["), counts)
        else:
            key = _KEY.match(statement)
            path = (*table, *_path_of(tomllib.loads(f"{key[1]} = 0") if key is not None else value))
        yield line, path, statement


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a right text, each with the line that it begins on: a line end within brackets ends none."""
    start, line, depth = 0, 1, 0
    for token in _TOKEN.finditer(f"{text}\n"):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        elif token[0] == "\n" and not depth:
            statement = text[start : token.start()]
            yield line, statement
            start, line = token.end(), line + statement.count("\n") + 1


def _path_of(value: dict[str, Any]) -> Path:
    """The one key that a statement writes: the parts of a dotted one."""
    found: Path = ()
    inner: Any = value
    while isinstance(inner, dict) and len(inner) == 1:
        name = next(iter(inner))
        found, inner = (*found, name), inner[name]
    return found


def _table(path: Path, is_member: bool, counts: dict[Path, int]) -> Path:
    """The path of a table, with the numbers of the members that it is in."""
    found: Path = ()
    for place, name in enumerate(path):
        found = (*found, name)
        if is_member and place == len(path) - 1:
            counts[found] = counts.get(found, -1) + 1
        if found in counts:
            found = (*found, str(counts[found]))
    return found
