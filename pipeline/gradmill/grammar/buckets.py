"""Buckets of operators: a partition by name that keeps related operators together.

The variants of an operator, a view and its copies, a foreach function and its reference, and the definitions of their
derivatives share a bucket. So a lookup depends on one bucket only, not on all functions. Unrelated operators may share
a bucket by chance.
"""

from collections.abc import Iterable
from functools import lru_cache

from xxhash import xxh3_64_intdigest

from gradmill.model.entries import by_key
from gradmill.model.regex import regex

BUCKETS = 64

_FOREACH = "_foreach_"
# The suffixes of variants.
_MARKS = ("_out", "_", "_functional")
_INPLACE_DUNDER = regex(r"__i\w+__")
# The words by which the names of variants, views, copies and C++ functions differ. No two of these words can overlap,
# so the order of their removal does not matter.
_WORDS = regex("foreach|functional|copy|scatter|inverse|out")


@lru_cache(maxsize=8192)
def bucket_of(name: str) -> str:
    """The bucket of an operator. `name` is its name, that of its C++ function, or the identity of its entry."""
    plain = name.rpartition("::")[2].partition(" ")[0].partition("#")[0].partition(".")[0]  # any text is a namespace
    if plain.startswith(_FOREACH):
        for mark in _MARKS:
            plain = plain.removesuffix(mark)
        plain = plain.split(_FOREACH)[-1]
    letters = (plain.replace("__i", "", 1) if _INPLACE_DUNDER.fullmatch(plain) else plain).replace("_", "")
    while (shorter := _WORDS.sub("", letters)) != letters:
        letters = shorter
    return f"{xxh3_64_intdigest(letters.encode()) % BUCKETS:02x}"


def in_buckets(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by bucket, each bucket in the order of `names`."""
    return by_key((bucket_of(name), name) for name in names)
