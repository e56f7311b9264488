"""The numbers of a stat, and their comparison.

Imports nothing but `os`: it is loaded first, to answer a command line from the replayed output when nothing changed.
`gradmill.io.files` has the rest.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` and `collections` take longer to import than everything else here
if TYPE_CHECKING:
    from collections.abc import Iterable

FIELDS = 5  # of a stat: size, time of modification and of change in nanoseconds, inode, device


def numbers_of(path: str | bytes | int) -> tuple[int, int, int, int, int] | None:
    """The stat of a file, following links, also of an open one. None if it is missing."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


def unchanged(noted: Iterable[tuple[str | bytes, tuple[int, ...] | None]]) -> bool:
    """Whether each file still has its noted stat. None stands for a missing file.

    The only comparison of stats: used for the replayed output, for the record of the last run, and during a run.
    """
    return all(numbers_of(path) == stat for path, stat in noted)
