"""Garbage in a cache: what no spec set's last runs need, and what killed runs left half-written."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from pipeline.front.run.outputs import remove_abandoned
from pipeline.query.account import Collected, collect, size_of
from pipeline.query.row import Name

_OWN = ("lock", "rows", "rows.seal", "rows.values", "doit", "set", "outputs", "manifest.json", "manifest.json.d")


PAGES = "page"  # the folder of a set's pages in that of the set
LARGE = 1 << 30  # bytes of a store that is collected without anybody asking


def is_root(name: Name) -> bool:
    """Whether a row is one that whole runs ask for: it stays, with all that it is made from."""
    stage, _, query = str(name[0]).partition(":")
    return query == "stage" or (stage, query) in (("shard", "made"), ("manifest", "manifest"), ("units", "unit_titles"))


def collect_if_large(path: str) -> None:
    """Collects a store that has grown very large."""
    if size_of(path) > LARGE:
        collect(path, is_root)


def collect_cache(cache: str, grace: float) -> Iterator[tuple[str, Collected | None]]:
    """Collects each spec set's rows: what whole runs need stays. None for a set that is left as it is:
    another process uses it, or it was written to less than `grace` seconds ago."""
    remove_abandoned(cache, _OWN)
    for name in _folders(cache):
        folder = os.path.join(cache, name)
        path = os.path.join(folder, "rows")
        if os.path.isfile(path) and os.path.isfile(f"{path}.seal"):
            remove_abandoned(folder, [*_OWN, *(file for file in os.listdir(folder) if file.startswith("last-"))])
            young = os.path.getmtime(path) > time.time() - grace
            yield name, None if young else collect(path, is_root)


def _folders(cache: str) -> list[str]:
    """The folders that may have a store, within the cache: of each spec set its own, and that of its pages."""
    try:
        sets = sorted(entry.name for entry in os.scandir(cache) if entry.is_dir())
    except FileNotFoundError:
        return []
    return [name for each in sets for name in (each, os.path.join(each, PAGES))]
