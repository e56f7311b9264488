"""Parses TOML, of descriptions and of settings files, and reports an error at its place."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.specs.layers.toml_place import PART
from gradmill.specs.text import conflict_marker

_AT = regex(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)
_MOST_PARTS = 50  # of a dotted key: Python's parser takes time quadratic in their number
_LONG_KEY = regex(rf"(?<![\w.-]){PART}(?:[ \t]*\.[ \t]*{PART}){{{_MOST_PARTS},}}")
_PROBLEMS = {RecursionError: "it is nested too deep", ValueError: "a number has too many digits"}


def parse_toml(file: str, data: bytes, what: str) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file, and its value. SpecError with the place if it is not TOML. `what`: for the hint."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(f"{file}: byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8") from error
    long = _LONG_KEY.search(text)
    if long is not None:
        line, column = text.count("\n", 0, long.start()) + 1, long.start() - text.rfind("\n", 0, long.start())
        raise SpecError(f"{file}:{line}:{column}: a key of more than {_MOST_PARTS} parts", "no key has so many")
    try:
        return text, _plain(tomllib.loads(text))
    except (ValueError, RecursionError) as error:  # numbers with thousands of digits raise ValueError too
        if (conflict := conflict_marker(text)) is not None:
            raise SpecError(f"{file}:{conflict.line}:1: {conflict.problem}", conflict.hint) from error
        problem = _PROBLEMS.get(type(error)) or str(error)
        raise SpecError(_syntax(file, text, problem), f"{what} is TOML: toml.io has the syntax") from error


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with dates and large numbers, which no key accepts, as text. Raises a RecursionError if it is nested
    deeper than any key."""
    if depth > 2 * _MOST_PARTS:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, (str, bool, float)) or (isinstance(value, int) and abs(value) < 1 << 63):
        return value
    return "a large number" if isinstance(value, int) else str(value)


def _syntax(file: str, text: str, problem: str) -> str:
    match = _AT.match(problem)
    if match is None:
        return f"{file}: not TOML: {problem}"
    line = match[2] or str(text.count("\n") + 1)
    return f"{file}:{line}:{match[3] or 1}: not TOML: {match[1]}"
