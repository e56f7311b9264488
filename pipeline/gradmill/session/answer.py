"""The answer to a command line, a file in the cache: what it printed, and the stats of all files that decide it. The
same command line prints it again if none of them has changed.

The answer to a plain command line is read before anything else is imported, because imports take most of the time of
such a run. So this module imports almost nothing.
"""

from __future__ import annotations

import os
import sys

from gradmill.io.checked import checked, with_checksum
from gradmill.io.stats import FIELDS, unchanged
from gradmill.session import SETTINGS_FILES

TYPE_CHECKING = False  # as in `io/stats.py`
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ANSWER = "answer-"  # the prefix of the names of answers
OWNER = "set"  # the file that names the owner of a set's folder in the cache
_FORMAT = b"answer/1"
# The prefixes of the environment variables that Python, doit or gradmill read.
_ENVIRONMENT = ("PYTHON", "DOIT", "GRADMILL", "LANG", "LC_", "VIRTUAL_ENV")


def is_plain(words: list[str]) -> bool:
    """Whether a command line has only variables, and no `stamp=`: it requests all generated files and nothing else."""
    return all("=" in word[1:] and word[0] != "-" and not word.startswith("stamp=") for word in words)


def answer_to(words: list[str]) -> tuple[bytes, bytes] | None:
    """The standard output and standard error of a repeated run; None if anything differs from what they are for."""
    command = command_of(words)
    try:
        for path in _answers(words):  # a set has one for each configuration
            form, *fields = (checked(_read(path)) or b"").split(b"\0")
            if form == _FORMAT and fields[0] == command and unchanged(_noted(fields[4:], fields[3])):
                return fields[1], fields[2]
    except OSError:
        pass
    return None


def _answers(words: list[str]) -> Iterator[str]:
    for cache in _caches(words):
        for name in _names_in(cache):
            folder = os.path.join(cache, name)
            if os.path.exists(os.path.join(folder, OWNER)):
                yield from (os.path.join(folder, each) for each in _names_in(folder) if each.startswith(ANSWER))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _caches(words: list[str]) -> Iterator[str]:
    """The folders that may be the cache: the one of the command line, else one in this folder or above, or one that a
    settings file there seems to name. Only an answer itself proves that it is about this command line."""
    named = [word[6:] for word in words if word.startswith("cache=")]
    if named and named[-1]:
        yield named[-1]
        return
    folder = os.getcwd()
    while True:
        yield os.path.join(folder, "cache")
        for path in (os.path.join(folder, name) for name in SETTINGS_FILES):
            text = os.fsdecode(_read(path)) if os.path.isfile(path) else ""
            quoted = (line.replace("'", '"').split('"') for line in text.split("\n") if "cache" in line)
            yield from (os.path.join(folder, parts[1]) for parts in quoted if len(parts) > 1)
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _read(path: str) -> bytes:
    more = getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would block
    with open(path, "rb", buffering=0, opener=lambda path, how: os.open(path, how | more)) as file:
        return file.read() or b""


def command_of(words: list[str]) -> bytes:
    """All dependencies of a run that are not files: command line, process, environment."""
    environment = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_ENVIRONMENT))
    process = (os.getcwd(), sys.version, sys.executable, sys.prefix, repr(sys.flags), *sys.path)
    return "\n".join((*words, "", *process, "", *environment)).encode("utf-8", "surrogateescape")


# ---- the file


def file_of(command: bytes, out: bytes, error: bytes, stats: Mapping[str, tuple[int, ...] | None]) -> bytes:
    """The bytes of an answer: the command; what it prints to standard output and to standard error; the stats of all
    files on which that depends, and their paths, missing ones last. No other field has a NUL."""
    present = {path: stat for path, stat in stats.items() if stat is not None}
    numbers = repr([number for stat in present.values() for number in stat])[1:-1].encode()
    paths = os.fsencode("\0".join([*present, *(path for path in stats if path not in present)]))
    return with_checksum(b"\0".join([_FORMAT, command, out, error, numbers, paths]))


def _noted(paths: list[bytes], numbers: bytes) -> Iterator[tuple[bytes, tuple[int, ...] | None]]:
    """Files with their stats, as `unchanged` takes them: most are not compared if an early one changed."""
    present = zip(*[map(int, numbers.split(b","))] * FIELDS)
    return ((path, next(present, None)) for path in paths)
