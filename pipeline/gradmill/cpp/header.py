"""Reads the declarations of C++ headers: functions with their numbers of arguments, and constants.

The header is not compiled: all preprocessor conditions count as true, and macros are not expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gradmill.cpp.conversions import of_cpp
from gradmill.cpp.declared import ANY, DeclaredOverload, Header
from gradmill.model.regex import regex

__all__ = ["ANY", "Header", "declared_at", "parameters_of", "read_header"]

_BLANK = regex(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])++'|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = regex(r"[A-Za-z_]\w*+|[{}();=]")
_NO_FUNCTION = frozenset("alignas decltype operator noexcept requires if for while switch return static_assert".split())
_CONSTANT = regex(r"\b(?:const|constexpr)\b[^;(){}=]*?\b([A-Za-z_]\w*+)\s*+(?:\[\])?\s*+(?:=[^;]*)?\Z")
_USING = regex(r"\busing\s+[\w:]+::(\w+)\s*\Z")
_TRANSPARENT = regex(r"\b(namespace|extern)\b[^;=()]*\Z")
_LAST_NAME = regex(r"([A-Za-z_]\w*+)\s*+\Z")
_RETURNED = regex(r"\b(?:TORCH_API|TORCH_PYTHON_API|inline|static|constexpr|extern|C10_EXPORT)\b|\btemplate\s*<[^<>]*>")
_OPEN, _CLOSE = "([{<", ")]}>"


def read_header(text: str) -> Header:
    """The declarations in the text of a header."""
    text = _blanked(text)
    header = Header({}, [], [])
    for statement in _statements(text):
        if statement.name:
            parameters = text[statement.opening + 1 : statement.end - 1]
            returns = text[statement.start : statement.opening].rpartition(statement.name)[0]
            overload = overload_of(parameters, of_cpp(_RETURNED.sub("", returns)))
            header.overloads.setdefault(statement.name, []).append(overload)
        else:
            _other(text[statement.start : statement.end], header)
    return header


def declared_at(text: str) -> dict[str, list[tuple[int, str]]]:
    """The functions in the text of a header: for each overload the line of its name, from 1, and its declaration.

    Each declaration is on one line.
    """
    plain = _blanked(text)
    overloads: dict[str, list[tuple[int, str]]] = {}
    for statement in _statements(plain):
        if statement.name:
            line = plain.count("\n", 0, statement.opening) + 1
            declaration = " ".join(plain[statement.start : statement.end].split())
            overloads.setdefault(statement.name, []).append((line, declaration))
    return overloads


class _Statement(NamedTuple):
    """A function up to the end of its parameters, or another statement. Offsets are in the text of the header."""

    start: int
    end: int
    name: str = ""  # of the function; "" for other statements
    opening: int = 0  # offset of the bracket before the parameters


def _blanked(text: str) -> str:
    """The text without comments, directives and the contents of strings, on the same lines."""

    def blank(match: re.Match[str]) -> str:
        matched = match.group()
        return ('""' if matched[0] in ('"', "'") else " ") + "\n" * matched.count("\n")

    return _BLANK.sub(blank, text)


def _statements(text: str) -> Iterator[_Statement]:
    start = position = 0  # start of the statement, and of the unread text
    while (token := _TOKEN.search(text, position)) is not None:
        position, opening = token.end(), token.start()
        sign = token.group()
        if sign == "(":
            position = _closed(text, opening)
            name = _function(text[start:opening])
            if name:
                yield _Statement(start, position, name, opening)
        elif sign == "{":
            if _TRANSPARENT.search(text[start:opening]) is None:
                position = _closed(text, opening)
            start = position
        elif sign in ";}":
            yield _Statement(start, opening)
            start = position


def _function(before: str) -> str:
    """The name of the function in `before`, the text before a bracket; "" if this is not a function."""
    name = _LAST_NAME.search(before)
    if name is None or "=" in before or "(" in before or name.group(1) in _NO_FUNCTION:
        return ""
    type_ = before[: name.start()].rstrip()
    return (
        "" if not type_.strip("&* \n") or type_.endswith(("::", "<", ",")) else name.group(1)
    )  # else a macro or a constructor


def _other(statement: str, header: Header) -> None:
    """Adds the constant or the name of a using-declaration in a statement to `header`."""
    constant, using = _CONSTANT.search(statement), _USING.search(statement)
    if "(" in statement:
        return
    if constant is not None:
        header.constants.append(constant.group(1))
    elif using is not None:
        header.others.append(using.group(1))


def _closed(text: str, opening: int) -> int:
    """The offset after the bracket that closes the one at `opening`; the end of the text if it is unclosed."""
    pair = {"(": ")", "{": "}"}[text[opening]]
    depth = 0
    for match in re.compile(f"[{text[opening]}{pair}]").finditer(text, opening):
        depth += 1 if match.group() == text[opening] else -1
        if depth == 0:
            return match.end()
    return len(text)


def overload_of(parameters: str, returns: str = "") -> DeclaredOverload:
    """The overload with a list of parameters; those with a default are optional. Of ANY, all types are ""."""
    pieces = [parameters[start:end].strip() for start, end in parameters_of(f"{parameters})")]
    if pieces == ["void"]:
        pieces = []
    types = [of_cpp(_LAST_NAME.sub("", piece.partition("=")[0])) for piece in pieces]
    required = sum("=" not in piece for piece in pieces)
    return DeclaredOverload(required, ("",) * ANY if "..." in parameters else tuple(types), returns)


def parameters_of(text: str) -> list[tuple[int, int]]:
    """The places of the parameters in a text that starts after the bracket before them."""
    depth, start, places = 0, 0, []
    for at, character in enumerate(text.replace("->", "  ")):
        if depth == 0 and character in ",)":
            places.append((start, at))
            start = at + 1
            if character == ")":
                break
        depth += (character in _OPEN) - (character in _CLOSE)
    stripped = ((start + len(text[start:end]) - len(text[start:end].lstrip()), end) for start, end in places)
    return [(start, end) for start, end in stripped if start < end]
