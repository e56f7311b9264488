"""Semantic tokens: what the words of formulas are, as numbers of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from gradmill.extensions.browse.editor.outline import Block
from gradmill.extensions.browse.editor.words import Kind, Word
from gradmill.extensions.browse.lsp.buffers import units

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

_MOST = 1 << 13  # entries that are kept


class Encoder:
    """Encodes the words of entries as numbers; keeps those of entries that did not change."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[list[Word], list[int]]] = {}

    def numbers(self, entries: Iterable[tuple[Block, list[Word]]], encoding: str) -> list[int]:
        """The numbers of all words in the order of the text: five for each word, relative to the one before it.
        `entries`: with their words, whose lines are counted from the entry's first one."""
        numbers: list[int] = []
        line = 0
        for block, words in entries:
            if words:
                first, *rest = self._of_entry(block.body.text, words, encoding)
                numbers.append(block.line + first - line)
                numbers += rest
                line = block.line + words[-1].line
        return numbers

    def _of_entry(self, text: str, words: list[Word], encoding: str) -> list[int]:
        """The numbers of the words of an entry; the first line is counted from the entry's first one."""
        known, numbers = self._kept.get((text, encoding), (None, []))
        if known is not words:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            numbers = _encoded(words, text.split("\n"), encoding)
            self._kept[text, encoding] = words, numbers
        return numbers


def _encoded(words: list[Word], lines: list[str], encoding: str) -> list[int]:
    numbers: list[int] = []
    line = column = 0
    for word in words:
        place = units(lines[word.line][: word.start], encoding)
        length = units(lines[word.line][word.start : word.end], encoding)
        since = place - column if word.line == line and numbers else place
        numbers += (word.line - line, since, length, *_NUMBERS[word.kind])
        line, column = word.line, place
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
