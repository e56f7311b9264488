"""The nearest existing name to one that does not exist: what a hint suggests.

What is near is difflib's to say, which is slow: it is asked only about names that share enough letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Self

NEAR = 0.6  # difflib's ratio, of names worth suggesting
_SEEN_TIMES = 4  # of one letter in a name; more are counted together
_LETTERS = 128


class Hint(str):
    """A hint that names a name. `fix`: the wrong name and the right one, where there can be no doubt."""

    fix: tuple[str, str] | None

    def __new__(cls, text: str, fix: tuple[str, str] | None = None) -> Self:
        made = super().__new__(cls, text)
        made.fix = fix
        return made


class _Letters(NamedTuple):
    """The letters of a name as bits, one for each of the first times that it has a letter, and how many more it has."""

    bits: int
    more: int
    length: int
    name: str


def nearest(name: str, names: Iterable[str], *, what: str = "did you mean", near: float = NEAR) -> str:
    """A hint that names the closest of `names`, or the empty string when none is close. `near`: how close that is."""
    known = tuple(names)
    close = closest(name, known)
    if close and near > NEAR:
        from difflib import SequenceMatcher

        close = close if SequenceMatcher(a=close, b=name).ratio() >= near else ""
    return Hint(f"{what} '{close}'?", (name, close) if is_certain(name, close, known) else None) if close else ""


def is_certain(name: str, close: str, names: Iterable[str]) -> bool:
    """Whether `name` is surely `close`, misspelt: one slip away from it, or two in a long name, and from none of the
    other `names`. Case and underscores at the ends are no slips: they tell variants of an operator apart."""
    slips = SLIPS_OF_LONG if min(len(name), len(close)) >= LONG else 1
    if len(close) < SHORT or name.strip("_") == close.strip("_") or name.lower() == close.lower():
        return False
    within = {other for other in names if abs(len(other) - len(name)) <= slips and _slips(name, other) <= slips}
    return within == {close}


SHORT = 3  # a name that is shorter may be meant by any slip
LONG = 8
SLIPS_OF_LONG = 2


def _slips(one: str, other: str) -> int:
    """How many letters are missing, too many, wrong or swapped with their neighbour (optimal string alignment)."""
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
    """What `difflib.get_close_matches` has first, the empty string when it has nothing."""
    from difflib import SequenceMatcher

    bits, more, length, _ = _letters(name)
    shortest, longest = int(length * NEAR / (2 - NEAR)), int(length * (2 - NEAR) / NEAR) + 1
    bounds = [
        (2.0 * ((bits & others).bit_count() + (more and min(more, left))) / (length + size), other)
        for others, left, size, other in _letters_of(names)
        if shortest <= size <= longest and size
    ]
    near = sorted((pair for pair in bounds if pair[0] >= NEAR), reverse=True)
    matcher = SequenceMatcher(b=name)
    best = (NEAR, "")
    for bound, other in near:
        if bound < best[0]:
            break
        matcher.set_seq1(other)
        best = max(best, (matcher.ratio(), other))
    return best[1]


@lru_cache(maxsize=64)
def _letters_of(names: tuple[str, ...]) -> list[_Letters]:
    return [_letters(name) for name in dict.fromkeys(names)]


@lru_cache(maxsize=8192)  # of two lists of operators, all names but one are the same
def _letters(name: str) -> _Letters:
    bits = 0
    for letter in name:
        bit = 1 << (ord(letter) % _LETTERS * _SEEN_TIMES)
        for _ in range(_SEEN_TIMES):
            if not bits & bit:
                bits |= bit
                break
            bit <<= 1
    return _Letters(bits, len(name) - bits.bit_count(), len(name), name)
