"""Garbage in the cache: artifacts that no state refers to, and journal records of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from msgspec import Struct

from pipeline.build.files import read_file, write_file
from pipeline.build.journal import record_bytes
from pipeline.build.journal import records as journal_records
from pipeline.build.pack import record, records
from pipeline.build.state import StateDB


class Collected(Struct, frozen=True):
    """What was removed, and what is left."""

    removed: int
    removed_bytes: int
    kept: int
    kept_bytes: int


def collect(cache: str, grace: float) -> Collected:
    """Removes the objects that no state needs and that are older than `grace` seconds.

    A run that is under way keeps what it has just made thanks to the grace; should something be gone that it wanted
    to reuse, it makes it again.
    """
    needed = set(_needed(cache))
    oldest = time.time() - grace
    removed = removed_bytes = kept = kept_bytes = 0
    for path, name in list(_objects(cache)):
        try:
            stat = os.stat(path)
            if name in needed or stat.st_mtime > oldest:
                kept, kept_bytes = kept + 1, kept_bytes + stat.st_size
                continue
            os.unlink(path)
        except OSError:
            continue
        removed, removed_bytes = removed + 1, removed_bytes + stat.st_size
    packed = _compact_pack(os.path.join(cache, "pack"), needed)
    removed, removed_bytes = removed + packed.removed, removed_bytes + packed.removed_bytes
    kept, kept_bytes = kept + packed.kept, kept_bytes + packed.kept_bytes
    _compact_journal(os.path.join(cache, "journal"), {name for _, name in _objects(cache)} | needed)
    return Collected(removed, removed_bytes, kept, kept_bytes)


def _needed(cache: str) -> Iterator[bytes]:
    """The artifacts that the states of all spec sets refer to."""
    for folder, _, names in os.walk(cache):
        for name in names:
            if name.startswith("state-") and not name.endswith(".tmp"):
                state = StateDB(os.path.join(folder, name))
                for task in state.tasks():
                    values = state.get(task, "_values_:")
                    if values:
                        yield from values["outcome"][0].values()


def _objects(cache: str) -> Iterator[tuple[str, bytes]]:
    """Paths and names of all objects; what is left of killed writes has an empty name."""
    for folder, _, names in os.walk(os.path.join(cache, "objects")):
        for name in names:
            try:
                yield os.path.join(folder, name), bytes.fromhex(os.path.basename(folder) + name)
            except ValueError:
                yield os.path.join(folder, name), b""


def _compact_pack(path: str, needed: set[bytes]) -> Collected:
    """Writes the pack anew, without what nobody needs. A run under way that loses something makes it again."""
    try:
        found = records(read_file(path))
    except OSError:
        return Collected(0, 0, 0, 0)
    kept = {name: data for name, data in found.items() if name in needed}
    if len(kept) < len(found):
        write_file(path, b"".join(record(name, data) for name, data in kept.items()))
    kept_bytes = sum(map(len, kept.values()))
    return Collected(len(found) - len(kept), sum(map(len, found.values())) - kept_bytes, len(kept), kept_bytes)


def _compact_journal(path: str, present: set[bytes]) -> None:
    try:
        records = journal_records(read_file(path))
    except OSError:
        return
    latest = dict(records)
    kept = [
        (key, outputs)
        for key, outputs in latest.items()
        if all(name in present for what, name in outputs.items() if what[0] != "=")
    ]
    write_file(path, b"".join(record_bytes(key, outputs) for key, outputs in kept))
