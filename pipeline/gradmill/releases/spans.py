"""Rows of tables, each with the releases that it is valid for: `row; 2.8-2.9  # why`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from gradmill.io.files import read_file


def texts_in(module: str) -> dict[str, str]:
    """The tables next to a module, by name, sorted. They may be links, as where Bazel runs gradmill."""
    folder = os.path.dirname(module)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".txt"))
    return {name.removesuffix(".txt"): (read_file(os.path.join(folder, name)) or b"").decode() for name in names}


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


def key_of(version: str) -> tuple[int, ...]:
    """A version as a tuple that is compared by number."""
    return tuple(map(int, version.split(".")))
