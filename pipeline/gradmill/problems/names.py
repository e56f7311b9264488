"""Suggests the existing name nearest to an unknown one, for hints: difflib ranks the names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Self

NEAR = 0.6  # the least difflib ratio of a suggestion


class Hint(str):
    """A hint with a suggested name. `fix` is the wrong name and the right one; None unless the hint is certain."""

    fix: tuple[str, str] | None

    def __new__(cls, text: str, fix: tuple[str, str] | None = None) -> Self:
        hint = super().__new__(cls, text)
        hint.fix = fix
        return hint


def nearest(name: str, names: Iterable[str], *, what: str = "did you mean", near: float = NEAR) -> Hint:
    """A hint with the closest of `names`, "" if none is close; one that differs in case alone is. `near` is the least
    difflib ratio. Names that share a word, as `_backward`, must be close without it too."""
    known = tuple(names)
    same = [other for other in known if other.lower() == name.lower()]
    close = same[0] if len(same) == 1 else closest(name, known)
    if not close or (not same and not (_is_close(*_own_words(name, close)) and _ratio(close, name) >= near)):
        return Hint("")
    return Hint(f"{what} '{close}'?", (name, close) if is_certain(name, close, known) else None)


def _own_words(one: str, other: str) -> tuple[str, str]:
    """Two names without the words that both begin or end with."""
    words, others = one.split("_"), other.split("_")
    for end in (-1, 0):
        while words and others and words[end] == others[end]:
            del words[end], others[end]
    return "_".join(words), "_".join(others)


def _is_close(one: str, other: str) -> bool:
    return not (one and other) or _ratio(other, one) >= NEAR or _edits(one, other) <= 1


def _ratio(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(a=one, b=other).ratio()


def is_certain(name: str, close: str, names: Iterable[str]) -> bool:
    """Whether `name` is surely a misspelling of `close`: one edit from it, or two in a long name, and that near to none
    of the other `names`. Case and underscores at the ends do not count as edits: they distinguish operator variants."""
    edits = EDITS_OF_LONG if min(len(name), len(close)) >= LONG else 1
    if len(close) < SHORT or name.strip("_") == close.strip("_") or name.lower() == close.lower():
        return False
    letters = {*name}
    near = (each for each in names if abs(len(each) - len(name)) <= edits and len(letters ^ {*each}) <= 2 * edits)
    return {other for other in near if _edits(name, other) <= edits} == {close}


SHORT = 3  # one edit turns a shorter name into too many others
LONG = 8
EDITS_OF_LONG = 2


def _edits(one: str, other: str) -> int:
    """The edit distance: letters missing, added, replaced or swapped with a neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        older, before, row = before, row, [i + 1]
        for j, wanted in enumerate(other):
            least = min(before[j] + (letter != wanted), before[j + 1] + 1, row[j] + 1)
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                least = min(least, older[j - 1] + 1)
            row.append(least)
    return row[-1]


@lru_cache(maxsize=1024)
def closest(name: str, names: tuple[str, ...]) -> str:
    """The first result of `difflib.get_close_matches`, "" if it has none. It compares few names: those that share
    enough letters, from the one that shares most of them."""
    from difflib import SequenceMatcher

    matcher, sharing = SequenceMatcher(b=name), []
    for other in dict.fromkeys(names):
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() >= NEAR and (bound := matcher.quick_ratio()) >= NEAR:
            sharing.append((bound, other))
    best = (NEAR, "")
    for bound, other in sorted(sharing, reverse=True):
        if bound >= best[0]:
            matcher.set_seq1(other)
            best = max(best, (matcher.ratio(), other))
    return best[1]
