"""Rows of tables, each with the releases that it is valid for: `row; 2.8-2.9  # why`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache


def texts_in(module: str) -> dict[str, str]:
    """The tables next to a module, by name, sorted. They may be links, as where Bazel runs gradmill. OSError if one
    cannot be read."""
    folder, texts = os.path.dirname(module), {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".txt"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts[name.removesuffix(".txt")] = file.read()
    return texts


def rows_of(lines: Iterable[str], version: str) -> Iterator[str]:
    """The rows that are valid for a minor release, without the releases that they name and the reasons."""
    wanted = key_of(version)
    for line in lines:
        if not line or line.startswith("#"):
            continue
        row, _, span = line.partition("  # ")[0].partition("; ")
        since, _, until = span.partition("-")
        if (not since or wanted >= key_of(since)) and (not until or wanted <= key_of(until)):
            yield row


@cache
def key_of(version: str) -> tuple[int, ...]:
    """A version as a tuple that is compared by number."""
    return tuple(map(int, version.split(".")))
