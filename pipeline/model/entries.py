"""Entries of spec files, and how many things are kept in groups."""

from collections.abc import Iterable, Iterator

from xxhash import xxh3_64_intdigest

# Marks a mapping whose order counts, kept as a list of pairs.
PAIRS = "!pairs"

# Starts the only key of a mapping that stands for a value which no key of a spec file takes, a date for example.
ODD_VALUE = "!yaml "
ODD_SET = f"{ODD_VALUE}set"  # with the items in their order

GROUP = 32  # names in a group, on average


def grouped(names: Iterable[str]) -> Iterator[list[str]]:
    """Names in groups of neighbours. Where one ends is decided by the name alone: a name that comes or goes changes its
    own group and no other."""
    group: list[str] = []
    for name in names:
        group.append(name)
        if xxh3_64_intdigest(name.encode()) % GROUP == 0:
            yield group
            group = []
    if group:
        yield group


def numbered(names: Iterable[str]) -> Iterator[str]:
    """The same names, all different: the second `x` is called `x#2`."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"
