"""Garbage collection of a store on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from pipeline.query.collect import copy_live
from pipeline.query.memo import Name, StoreDamaged
from pipeline.store.sqlite import SqliteStore, size_of


class Collected(Struct, frozen=True):
    """What was removed, and what is left."""

    removed: int  # rows
    kept: int
    removed_bytes: int
    kept_bytes: int


def collect(path: str, is_root: Callable[[Name], bool]) -> Collected | None:
    """Collects the store at a path, and deletes a damaged one. None if there is none, or it cannot be replaced."""
    before = size_of(path)
    old, new = SqliteStore(path), SqliteStore(path)
    try:
        rows = copy_live(old, new, is_root)
    except StoreDamaged:
        for file in old.paths:
            with suppress(OSError):
                os.unlink(file)
        return Collected(0, 0, before, 0)
    finally:
        old.close()
        new.close()
    if rows is None:
        return None
    after = size_of(path)
    return Collected(rows[0] - rows[1], rows[1], max(before - after, 0), after)
