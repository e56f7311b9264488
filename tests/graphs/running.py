"""Runs of gradmill on graphs, with one cache for all: what it knows of the operators of a set is computed once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import forked

CACHE = TemporaryDirectory(prefix="gradmill-graphs-")  # deleted with the process


def gradmill(words: list[str], folder: Path) -> forked.Run:
    """Runs it in a folder."""
    return forked.gradmill([*words, f"cache={CACHE.name}"], folder)
