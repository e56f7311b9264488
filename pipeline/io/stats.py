"""Stats of files, and the comparison of stats.

Imports almost nothing: it is loaded first, to answer a command line from the replayed output when nothing changed.
Other modules import these names from `pipeline.io.files`.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Iterable

# Not a `typing.NamedTuple`: importing `typing` takes longer than everything else here.
Stat = namedtuple("Stat", ("size", "mtime_ns", "ctime_ns", "inode", "device"))
_new = tuple.__new__  # `Stat(...)` is a Python call; a run takes the stats of a thousand files


def stat_of(path: str | bytes) -> Stat | None:
    """The stat of a file, following links. None if it is missing."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    numbers = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)
    return _new(Stat, numbers)


def unchanged(noted: Iterable[tuple[str | bytes, tuple[int, ...] | None]]) -> bool:
    """Whether each file still has its noted stat. None stands for a missing file.

    The only comparison of stats: used for the replayed output, for the record of the last run, and during a run.
    """
    return all(stat_of(path) == stat for path, stat in noted)
