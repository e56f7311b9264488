"""The file with the record of a run, and the answer that it may have: what the same command line prints again.

The answer to a plain command line is read before anything else is imported, because imports take most of the time of
such a run. So this module imports almost nothing.
"""

from __future__ import annotations

import os
import sys

from pipeline.io.checked import checked, with_checksum
from pipeline.io.stats import FIELDS, unchanged

TYPE_CHECKING = False  # as in `io/stats.py`
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Stats = Mapping[bytes, tuple[int, ...] | None]  # by path; None: it is missing

RECORD = "last-"  # the prefix of a record's file name
OWNER = "set"  # the file that names the owner of a set's folder in the cache
_FORMAT = b"record/4"
# The prefixes of the environment variables that Python, doit or gradmill read.
_ENVIRONMENT = ("PYTHON", "DOIT", "GRADMILL", "LANG", "LC_", "VIRTUAL_ENV")


def is_plain(words: list[str]) -> bool:
    """Whether a command line has only variables, and no `stamp=`: it requests all generated files and nothing else."""
    return all("=" in word[1:] and word[0] != "-" and not word.startswith("stamp=") for word in words)


def answer_to(words: list[str]) -> tuple[bytes, bytes] | None:
    """The standard output and standard error of a repeated run; None if anything differs from that of the record."""
    folders = [word[6:] for word in words if word.startswith("cache=")]
    command = command_of(words)
    try:
        for path in _records(folders[-1] if folders and folders[-1] else "cache"):
            fields = fields_in(_read(path), command)
            if fields is None:  # a set has one for each configuration
                continue
            _, out, error, _, stats, more = fields
            if unchanged(stats.items()) and unchanged(more.items()):
                return out, error
    except (OSError, ValueError):  # ValueError: a file of another version
        pass
    return None


def _records(cache: str) -> Iterator[str]:
    """The records of all sets in a cache."""
    for name in os.listdir(cache):
        folder = os.path.join(cache, name)
        if os.path.exists(os.path.join(folder, OWNER)):
            yield from (os.path.join(folder, each) for each in os.listdir(folder) if each.startswith(RECORD))


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0, opener=_at_once) as file:
        return file.read() or b""


def _at_once(path: str, how: int) -> int:
    return os.open(path, how | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer would block


def command_of(words: list[str]) -> bytes:
    """All dependencies of a run that are not files: command line, process, environment."""
    environment = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_ENVIRONMENT))
    process = (os.getcwd(), sys.version, sys.executable, sys.prefix, repr(sys.flags), *sys.path)
    return "\n".join((*words, "", *process, "", *environment)).encode("utf-8", "surrogateescape")


# ---- the file


def file_of(command: bytes, out: bytes, error: bytes, details: bytes, stats: Stats, more: Stats) -> bytes:
    """The bytes of a record. `command`: that it answers, empty for none; `out` and `error`: what this prints. `stats`:
    of the files that the run read and left; `more`: of other files on which the answer depends. No value has a NUL.

    All numbers are in one field, in the order of the paths: that parses faster than a field for each path. Paths of
    missing files come last and have none.
    """
    head = [_FORMAT, command, out, error, details, b"%d" % len(stats)]
    data = b"\0".join([*head, _numbers(stats), _numbers(more), *_paths(stats), *_paths(more)])
    return with_checksum(data)


def fields_in(data: bytes, command: bytes | None = None) -> tuple[bytes, bytes, bytes, bytes, Stats, Stats] | None:
    """The values from which `file_of` made a file; None if it is damaged, or if it is the answer to another `command`
    than a given one."""
    form, *fields = (checked(data) or b"").split(b"\0")
    if form != _FORMAT or (command is not None and fields[:1] != [command]):
        return None
    noted, out, error, details, count, numbers, more, *paths = fields
    middle = int(count)
    return noted, out, error, details, _stats(paths[:middle], numbers), _stats(paths[middle:], more)


def _numbers(stats: Stats) -> bytes:
    return b" ".join(b"%d" % number for stat in stats.values() if stat is not None for number in stat)


def _paths(stats: Stats) -> list[bytes]:
    return sorted(stats, key=lambda path: stats[path] is None)


def _stats(paths: list[bytes], numbers: bytes) -> Stats:
    present = [*zip(*[map(int, numbers.split())] * FIELDS)]
    return dict(zip(paths, present + [None] * (len(paths) - len(present))))
