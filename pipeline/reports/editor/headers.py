"""The helpers that C++ headers declare for formulas: names, places, declarations. Read as text, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

# A declaration starts at the left; its name is what stands before the first bracket.
_START = re.compile(
    r"^(?!return\b|namespace\b|using\b|struct\b|class\b|enum\b|template\b|typedef\b|if\b|for\b|while\b)"
    r"(?:TORCH_API\s+)?([A-Za-z_][\w:<>,&*\s]*?[\s&*>])([A-Za-z_]\w*)\s*\(",
    re.MULTILINE,
)
_SPACE = re.compile(r"\s+")


class Helper(Struct, frozen=True):
    """A function that formulas may call."""

    name: str
    path: str  # of the header
    line: int  # counted from 0
    column: int
    text: str  # the declaration


def helpers(path: str, text: str) -> Iterator[Helper]:
    """What a header declares, in its order."""
    for match in _START.finditer(text):
        start = match.start(2)
        end = _closed(text, match.end() - 1)
        declared = _SPACE.sub(" ", text[match.start() : end]).replace("( ", "(").removeprefix("TORCH_API ")
        line = text.count("\n", 0, start)
        yield Helper(match[2], path, line, start - (text.rfind("\n", 0, start) + 1), f"{declared};")


def _closed(text: str, at: int) -> int:
    """The end of the brackets that open at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)
