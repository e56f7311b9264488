"""C++ headers to what they declare: functions with how many arguments they take, and constants.

The header is not compiled, only read: conditions of the preprocessor are taken to hold, macros are not expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.cpp.conversions import of_cpp
from pipeline.cpp.declared import ANY, Arity, Header, Overload
from pipeline.model.regex import regex

__all__ = ["ANY", "Arity", "Header", "declared_at", "read_header"]

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
    """What the text of a header declares."""
    text = _blanked(text)
    found = Header({}, [], [], {})
    for statement in _statements(text):
        if statement.name:
            parameters = text[statement.opening + 1 : statement.end - 1]
            arity = arity_of(parameters)
            returns = text[statement.start : statement.opening].rpartition(statement.name)[0]
            overload = Overload(arity.least, _types(parameters, arity.most), of_cpp(_RETURNED.sub("", returns)))
            found.overloads.setdefault(statement.name, []).append(overload)
            known = found.functions.get(statement.name, arity)
            found.functions[statement.name] = Arity(min(arity.least, known.least), max(arity.most, known.most))
        else:
            _other(text[statement.start : statement.end], found)
    return found


def declared_at(text: str) -> dict[str, list[tuple[int, str]]]:
    """The functions that the text of a header declares: for each overload the line that it is called on, counted from
    1, and the declaration on one line."""
    plain = _blanked(text)
    found: dict[str, list[tuple[int, str]]] = {}
    for statement in _statements(plain):
        if statement.name:
            line = plain.count("\n", 0, statement.opening) + 1
            declaration = " ".join(plain[statement.start : statement.end].split())
            found.setdefault(statement.name, []).append((line, declaration))
    return found


class _Statement(NamedTuple):
    """A piece of a header: a function up to its arguments, with its name and where these begin, or something else."""

    start: int
    end: int
    name: str = ""
    opening: int = 0


def _blanked(text: str) -> str:
    """The text without comments, directives and the insides of strings, on the same lines."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return ('""' if found[0] in ('"', "'") else " ") + "\n" * found.count("\n")

    return _BLANK.sub(blank, text)


def _statements(text: str) -> Iterator[_Statement]:
    start = position = 0  # of the statement, and of what has not been read
    while (token := _TOKEN.search(text, position)) is not None:
        position, opening = token.end(), token.start()
        mark = token.group()
        if mark == "(":
            position = _closed(text, opening)
            name = _function(text[start:opening])
            if name:
                yield _Statement(start, position, name, opening)
        elif mark == "{":
            if _TRANSPARENT.search(text[start:opening]) is None:
                position = _closed(text, opening)
            start = position
        elif mark in ";}":
            yield _Statement(start, opening)
            start = position


def _function(before: str) -> str:
    """The name of the function whose declaration begins so; "" where it is none."""
    name = _LAST_NAME.search(before)
    if name is None or "=" in before or "(" in before or name.group(1) in _NO_FUNCTION:
        return ""
    type_ = before[: name.start()].rstrip()
    return (
        "" if not type_.strip("&* \n") or type_.endswith(("::", "<", ",")) else name.group(1)
    )  # else a macro or a constructor


def _other(statement: str, found: Header) -> None:
    constant, using = _CONSTANT.search(statement), _USING.search(statement)
    if "(" in statement:
        return
    if constant is not None:
        found.constants.append(constant.group(1))
    elif using is not None:
        found.others.append(using.group(1))


def _closed(text: str, opening: int) -> int:
    """Where the bracket at `opening` is closed: behind it; the end of the text where it is not."""
    pair = {"(": ")", "{": "}"}[text[opening]]
    depth = 0
    for match in re.compile(f"[{text[opening]}{pair}]").finditer(text, opening):
        depth += 1 if match.group() == text[opening] else -1
        if depth == 0:
            return match.end()
    return len(text)


def arity_of(parameters: str) -> Arity:
    """How many arguments a list of parameters takes: those with a default may be left out."""
    if parameters.strip() in ("", "void"):
        return Arity(0, 0)
    depth = defaults = 0
    count = 1
    for character in parameters.replace("->", "  "):
        depth += (character in _OPEN) - (character in _CLOSE)
        if depth == 0:
            count += character == ","
            defaults += character == "="
    return Arity(count - defaults, ANY if "..." in parameters else count)


def _types(parameters: str, count: int) -> tuple[str, ...]:
    """What stands for the types of parameters; "" for each of so many where the list is hard to read."""
    if count in (0, ANY):
        return ("",) * count
    depth, start, pieces = 0, 0, []
    for at, character in enumerate(parameters.replace("->", "  ")):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "," and depth == 0:
            pieces.append(parameters[start:at])
            start = at + 1
    pieces.append(parameters[start:])
    if len(pieces) != count:
        return ("",) * count
    return tuple(of_cpp(_LAST_NAME.sub("", piece.partition("=")[0])) for piece in pieces)
