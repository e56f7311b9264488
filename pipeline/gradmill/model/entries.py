"""Markers in the values of spec-file entries, and the grouping of names and values."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from xxhash import xxh3_64_intdigest

K = TypeVar("K")
V = TypeVar("V")

# Marks a list of pairs that represents an ordered mapping.
PAIRS = "!pairs"

# Prefix of the only key of a mapping that represents a value which no key of a spec file accepts, such as a date.
ODD_VALUE = "!yaml "
ODD_SET = f"{ODD_VALUE}set"  # with the items in their order

GROUP = 32  # names in a group, on average


def grouped(names: Iterable[str]) -> Iterator[list[str]]:
    """Consecutive names in groups of GROUP on average.

    The hash of a name decides whether a group ends after it, so adding or removing a name changes only nearby groups.
    """
    listed, begin = list(names), 0
    numbers = map(xxh3_64_intdigest, map(str.encode, listed))
    ends = [end for end, number in enumerate(numbers, 1) if not number % GROUP]
    for end in dict.fromkeys((*ends, len(listed))):
        if end:
            yield listed[begin:end]
        begin = end


def numbered(names: Iterable[str]) -> Iterator[str]:
    """The same names made unique: the second `x` becomes `x#2`."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"


def by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key, all in the order of the pairs."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
