"""The calls in formulas: what is called, and how. One reading for links in formulas and for lists of users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline.model.regex import regex
from pipeline.rules.derivatives.known import ATEN, CALL, METHOD

WORD = r"""[A-Za-z_]\w*(?:::\w+)*"""
_SKIPPED = r"""//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/|"(?:\\.|[^"\\])*\""""
_WORDS = regex(rf"{_SKIPPED}|(?P<word>{WORD})")
_CALLED = regex(r"\s*(?:<[\w:, ]*>)?\(")
_OF_ATEN = "at::"


class Call(NamedTuple):
    """A call in a formula."""

    kind: str  # CALL of a plain name, ATEN with `at::`, METHOD of a value
    name: str


def call_at(text: str, start: int, end: int) -> Call | None:
    """The call of the word between two places of a formula; None if it is not called, or in another namespace."""
    if _CALLED.match(text, end) is None:
        return None
    word = text[start:end]
    if text[:start].rstrip().endswith((".", "->")):
        return Call(METHOD, word)
    if word.startswith(_OF_ATEN) and word.count("::") == 1:
        return Call(ATEN, word.removeprefix(_OF_ATEN))
    return None if "::" in word else Call(CALL, word)


def calls_in(text: str) -> Iterator[Call]:
    """The calls in a formula, in their order; none of comments and strings."""
    for match in _WORDS.finditer(text):
        call = call_at(text, *match.span()) if match["word"] else None
        if call is not None:
            yield call
