"""The answer to a command line when nothing has changed, computed before anything else is imported.

A complete run stores a note in the cache: the output of a repeated run, the environment, and the stat of each file that
it read or wrote. As long as these are unchanged, the stored output is the answer. This module imports almost nothing,
because imports take most of the time of such a run.
"""

from __future__ import annotations

import os
import sys
from zlib import crc32

from pipeline.io.stats import FIELDS, unchanged

TYPE_CHECKING = False  # as in `io/stats.py`
if TYPE_CHECKING:
    from collections.abc import Mapping

# The prefixes of the environment variables that Python, doit or gradmill read.
_ENVIRONMENT = ("PYTHON", "DOIT", "GRADMILL", "LANG", "LC_", "VIRTUAL_ENV")

NOTE = "unchanged-"  # the prefix of a note's file name


def is_plain(words: list[str]) -> bool:
    """Whether a command line has only variables, and no `stamp=`: it requests all generated files and nothing else."""
    return all("=" in word[1:] and word[0] != "-" and not word.startswith("stamp=") for word in words)


def note_path(words: list[str]) -> str:
    """The path of the note for a command line, in the folder that `cache=` names."""
    folders = [word[6:] for word in words if word.startswith("cache=")]
    return os.path.join(folders[-1] if folders and folders[-1] else "cache", f"{NOTE}{crc32(_encoded(words)):08x}")


def note(words: list[str], out: str, error: str, stats: Mapping[str, tuple[int, ...] | None]) -> bytes:
    """The bytes of a run's note: its standard output, its standard error, and the stat of each path (None: missing).

    All numbers are in one field, in the order of the paths: that parses faster than a field for each path. Paths of
    missing files come last and have none.
    """
    present = {path: stat for path, stat in stats.items() if stat is not None}
    numbers = " ".join(" ".join(map(str, stat)) for stat in present.values())
    missing = [path for path in stats if path not in present]
    return _sealed(_encoded([_surroundings(words), out, error, numbers, *present, *missing]))


def is_note(data: bytes) -> bool:
    """Whether bytes are a note with a valid checksum."""
    return _sealed(data[8:]) == data


def answer_to(words: list[str]) -> tuple[bytes, bytes] | None:
    """The standard output and standard error of a repeated run; None if anything differs from the note."""
    try:
        with open(note_path(words), "rb", buffering=0, opener=_at_once) as file:
            data = file.read() or b""
        noted, out, error, numbers, *paths = data[8:].split(b"\0")
        if not is_note(data) or noted != _encoded([_surroundings(words)]):
            return None
        stats = [*zip(*[map(int, numbers.split())] * FIELDS)]
        missing = [None] * (len(paths) - len(stats))
        return (out, error) if unchanged(zip(paths, stats + missing)) else None
    except (OSError, ValueError):  # ValueError: the note of another version
        return None


def _at_once(path: str, how: int) -> int:
    return os.open(path, how | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer would block


def _surroundings(words: list[str]) -> str:
    """All dependencies of a run that are not files: command line, process, environment."""
    environment = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_ENVIRONMENT))
    process = (os.getcwd(), sys.version, sys.executable, sys.prefix, repr(sys.flags), *sys.path)
    return "\n".join((*words, "", *process, "", *environment))


def _encoded(fields: list[str]) -> bytes:
    return "\0".join(fields).encode("utf-8", "surrogateescape")


def _sealed(data: bytes) -> bytes:
    """`data`, preceded by its checksum."""
    return b"%08x" % crc32(data) + data
