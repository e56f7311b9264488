"""Garbage in a cache: what no spec set's last runs need, and what killed runs left half-written."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

from pipeline.front.run.outputs import remove_abandoned
from pipeline.query.account import Collected, collect
from pipeline.query.row import Name

_OWN = ("rows", "rows.seal", "rows.values", "doit", "set", "outputs", "manifest.json", "manifest.json.d")


def collect_cache(cache: str, queries: Iterable[str], grace: float) -> Iterator[tuple[str, Collected | None]]:
    """Collects each spec set's rows: what the rows of `queries` need stays. None for a set that is left as it is:
    another process uses it, or it was written to less than `grace` seconds ago."""
    roots = set(queries)

    def is_root(name: Name) -> bool:
        return name[0] in roots

    remove_abandoned(cache, _OWN)
    for name in _folders(cache):
        folder = os.path.join(cache, name)
        path = os.path.join(folder, "rows")
        if os.path.isfile(path) and os.path.isfile(f"{path}.seal"):
            remove_abandoned(folder, [*_OWN, *(file for file in os.listdir(folder) if file.startswith("last-"))])
            young = os.path.getmtime(path) > time.time() - grace
            yield name, None if young else collect(path, is_root)


def _folders(cache: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(cache) if entry.is_dir())
    except FileNotFoundError:
        return []
