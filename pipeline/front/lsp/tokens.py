"""Semantic tokens: what the words of formulas are, as numbers of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from pipeline.front.lsp.buffers import Text, units
from pipeline.reports.editor.words import Kind

# The type and the modifier of each kind of word. Names are the protocol's, with some more that themes may color.
_STYLES: dict[Kind, tuple[str, str]] = {
    "gradient": ("variable", "gradient"),
    "argument": ("parameter", ""),
    "output": ("variable", "readonly"),
    "operator": ("function", "defaultLibrary"),
    "method": ("method", "defaultLibrary"),
    "helper": ("function", "helper"),
    "word": ("keyword", ""),
    "unknown": ("unresolvedReference", ""),
    "number": ("number", ""),
    "string": ("string", ""),
    "comment": ("comment", ""),
}
_TYPES = list(dict.fromkeys(type_ for type_, _ in _STYLES.values()))
_MODIFIERS = list(dict.fromkeys(modifier for _, modifier in _STYLES.values() if modifier))
LEGEND = types.SemanticTokensLegend(token_types=_TYPES, token_modifiers=_MODIFIERS)
_NUMBERS = {
    kind: (_TYPES.index(type_), 1 << _MODIFIERS.index(modifier) if modifier else 0)
    for kind, (type_, modifier) in _STYLES.items()
}

Placed = tuple[int, int, int, Kind]  # line, columns of the start and the end, kind


def encoded(words: Iterable[Placed], text: Text, encoding: str) -> list[int]:
    """The numbers of words in the order of the text: five for each word, relative to the one before it."""
    numbers: list[int] = []
    line = column = 0
    for at, start, end, kind in words:
        before = text.lines[at][:start]
        place, length = units(before, encoding), units(text.lines[at][start:end], encoding)
        numbers += (at - line, place - column if at == line else place, length, *_NUMBERS[kind])
        line, column = at, place
    return numbers


def difference(old: Sequence[int], new: Sequence[int]) -> list[types.SemanticTokensEdit]:
    """The edit that turns numbers into others; none if they are equal."""
    size = min(len(old), len(new))
    before = _equal(old, new, size)
    after = _equal(old[::-1], new[::-1], size - before)
    if before == len(old) == len(new):
        return []
    return [types.SemanticTokensEdit(before, len(old) - before - after, list(new[before : len(new) - after]))]


def _equal(one: Sequence[int], other: Sequence[int], most: int) -> int:
    """How many numbers at the start of two lists are equal, `most` at most."""
    low, high = 0, most  # as many are equal for certain, and as many at most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
