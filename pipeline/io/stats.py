"""What the system says of files, and whether it still says the same.

Imports next to nothing, as the answer to a command line for which nothing has changed is found with it. Everything else
has these from `pipeline.io.files`.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Iterable

# What the system says of a file. No `typing.NamedTuple`: importing `typing` takes longer than all else here.
Stat = namedtuple("Stat", ("size", "mtime_ns", "ctime_ns", "inode", "device"))


def stat_of(path: str | bytes) -> Stat | None:
    """What the system says of a file, None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Stat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)


def unchanged(noted: Iterable[tuple[str | bytes, tuple[int, ...] | None]]) -> bool:
    """Whether the system says of each file what was noted of it; None: that there is none.

    The only comparison of stats: the note of a command line, the record of a run and a run itself ask it.
    """
    return all(stat_of(path) == stat for path, stat in noted)
