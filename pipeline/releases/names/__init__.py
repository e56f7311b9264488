"""The names that formulas may call in each release of PyTorch, for spec sets that do not have all of its files.

`functions.txt` has those of ATen's functions, `others.txt` those that its headers have besides, `methods.txt` those of
the methods of tensors, numbers, lists and optional values, `helpers.txt` what `FunctionsManual.h` declares, with the
least and the most arguments. A name that not every known release has says the first one and the last one that do. They
are facts, written by `tests/names_of_releases.py` from the packages of the releases.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from msgspec import Struct

_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.txt")}


class Names(Struct, frozen=True):
    """The names of one release."""

    functions: tuple[str, ...]  # that native_functions.yaml declares
    others: tuple[str, ...]  # that ATen has besides
    methods: tuple[str, ...]
    helpers: dict[str, tuple[int, int]]  # the least and the most arguments


@lru_cache(maxsize=2)
def names_of(version: str) -> Names:
    """The names of a known minor release."""
    helpers = {name: (int(least), int(most)) for name, least, most in _rows("helpers", version)}
    return Names(_plain("functions", version), _plain("others", version), _plain("methods", version), helpers)


def _plain(table: str, version: str) -> tuple[str, ...]:
    return tuple(name for (name,) in _rows(table, version))


def _rows(table: str, version: str) -> list[list[str]]:
    """The rows of a table that hold for a release, without the releases that they name."""
    wanted = _key(version)
    found = []
    for line in _TEXTS[table].splitlines():
        row, _, span = line.partition("; ")
        if span:
            since, _, until = span.partition("-")
            if not _key(since) <= wanted <= _key(until):
                continue
        if not row.startswith("#"):
            found.append(row.split())
    return found


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
