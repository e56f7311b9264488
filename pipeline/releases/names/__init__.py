"""The names that formulas may call in each release of PyTorch, for spec sets that do not have all of its files.

`functions.txt` has those of ATen's functions with the most arguments that each takes, `others.txt` those that its
headers have besides, `methods.txt` those of the methods of tensors, with the most arguments where it has them alone,
and of numbers, lists and optional values, `helpers.txt` what `FunctionsManual.h` declares, with the least and the most
arguments. A row holds for all releases, or for those behind it: `2.8-` from 2.8 on, `2.8-2.9` for these. They are
facts, which `python -m tests.add_release` reads from the packages of releases. A release whose package was not read has
the names of the newest that was.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.txt")}


class Names(Struct, frozen=True):
    """The names of one release."""

    functions: dict[str, int | None]  # that native_functions.yaml declares: the most arguments, where that is known
    others: tuple[str, ...]  # that ATen has besides
    methods: dict[str, int | None]  # the same
    helpers: dict[str, tuple[int, int]]  # the least and the most arguments


@lru_cache(maxsize=2)
def names_of(version: str) -> Names:
    """The names of a known minor release."""
    return read_names(version, _TEXTS)


def read_names(version: str, texts: Mapping[str, str]) -> Names:
    """The names that the tables have for a minor release; `texts`: functions, others, methods and helpers."""

    def counted(table: str) -> dict[str, int | None]:
        return {name: int(most[0]) if most else None for name, *most in _rows(texts[table], version)}

    others = tuple(name for (name,) in _rows(texts["others"], version))
    helpers = {name: (int(least), int(most)) for name, least, most in _rows(texts["helpers"], version)}
    return Names(counted("functions"), others, counted("methods"), helpers)


def _rows(text: str, version: str) -> list[list[str]]:
    """The rows of a table that hold for a release, without the releases that they name."""
    wanted = _key(version)
    found = []
    for line in text.splitlines():
        row, _, span = line.partition("; ")
        since, _, until = span.partition("-")
        if (since and wanted < _key(since)) or (until and wanted > _key(until)):
            continue
        if not row.startswith("#"):
            found.append(row.split())
    return found


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
