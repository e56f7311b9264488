"""Buckets of operators: which may have to do with one another, by their names alone.

The variants of an operator, a view and its copies, a foreach function and what it applies to each member, and the
definitions of their derivatives have one bucket. So whoever looks one of them up looks at its bucket, and not at all
functions. That others have the same bucket is nothing but chance.
"""

from collections.abc import Iterable
from functools import lru_cache

from xxhash import xxh3_64_intdigest

from pipeline.model.regex import regex

BUCKETS = 64

_FOREACH = "_foreach_"
# What a variant's name has more than that of its function.
_MARKS = ("_out", "_", "_functional")
_INPLACE_DUNDER = regex(r"__i\w+__")
# What the names of variants, of views, of copies and of C++ functions differ by. No two of these words can overlap, so
# that it does not matter in which order they are taken out.
_WORDS = regex("foreach|functional|copy|scatter|inverse|out")


@lru_cache(maxsize=8192)
def bucket_of(name: str) -> str:
    """The bucket of an operator: by its name, by that of its C++ function, by the identity of its entry."""
    plain = name.partition(" ")[0].partition("#")[0].partition(".")[0].rpartition("::")[2]
    if plain.startswith(_FOREACH):
        for mark in _MARKS:
            plain = plain.removesuffix(mark)
        plain = plain.split(_FOREACH)[-1]
    letters = (plain.replace("__i", "", 1) if _INPLACE_DUNDER.fullmatch(plain) else plain).replace("_", "")
    while (shorter := _WORDS.sub("", letters)) != letters:
        letters = shorter
    return f"{xxh3_64_intdigest(letters.encode()) % BUCKETS:02x}"


def in_buckets(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by bucket, in their order."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(bucket_of(name), []).append(name)
    return found
