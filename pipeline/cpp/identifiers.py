"""Identifiers in C++ formulas, found the way upstream finds them.

Upstream searches for a name with `(^|\\W)name($|\\W)`, which consumes the character on either side. Replacing
therefore misses the second of two uses with a single character between them (`grad*grad`), and byte equality
needs the same.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")


def small_int(digits: str) -> int:
    """The number that `digits` write; one too large for an index stays too large, whatever it is."""
    return int(digits.lstrip("0")[:9] or "0")


def words(text: str) -> frozenset[str]:
    """Every identifier, keyword and number in `text`."""
    return frozenset(_WORD.findall(text))


def uses(text: str, name: str) -> bool:
    """Whether `name` stands in `text` as a whole word."""
    return name in text and name in words(text)


def occurrences(text: str, name: str) -> list[int]:
    """Where upstream's search sees `name`: the start of each use, those that it misses left out."""
    if name not in text:
        return []
    found = []
    consumed = 0
    last = len(text)
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match.group() != name or (start > 0 and start - 1 < consumed):
            continue
        found.append(start)
        at_end = end == last or (end == last - 1 and text[end] == "\n")
        consumed = end if at_end else end + 1
    return found


def replace(text: str, name: str, replacement: str) -> str:
    """`text` with the uses of `name` that upstream's search sees replaced."""
    starts = occurrences(text, name)
    if not starts:
        return text
    pieces = []
    position = 0
    for start in starts:
        pieces += [text[position:start], replacement]
        position = start + len(name)
    return "".join(pieces) + text[position:]
