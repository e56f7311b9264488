"""The answer to a command line for which nothing has changed: found before anything else is imported.

A whole run notes, in one file of the cache, what it would say were it run again, the surroundings that it ran in, and
what the system said of each file that it saw or left. While all of that is as it was, that is the answer. This module
imports next to nothing: imports are most of what such a run costs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from zlib import crc32

from pipeline.io.stats import Stat, unchanged

# How the names of variables begin that Python, doit or gradmill look at.
_ENVIRONMENT = ("PYTHON", "DOIT", "GRADMILL", "LANG", "LC_", "VIRTUAL_ENV")

NOTE = "unchanged-"  # what the name of a note begins with


def is_plain(words: list[str]) -> bool:
    """Whether a command line asks for all generated files and for nothing else: it has variables alone."""
    return all("=" in word[1:] and word[0] != "-" and not word.startswith("stamp=") for word in words)


def note_path(words: list[str]) -> str:
    """Where the answer to a command line is noted: in the folder that `cache=` names."""
    folders = [word[6:] for word in words if word.startswith("cache=")]
    return os.path.join(folders[-1] if folders and folders[-1] else "cache", f"{NOTE}{crc32(_encoded(words)):08x}")


def note(words: list[str], out: str, error: str, stats: Mapping[str, Stat | None]) -> bytes:
    """What is noted of a run: what it says to standard output and error, and the stat of each path."""
    told = [field for path, stat in stats.items() for field in (path, "" if stat is None else " ".join(map(str, stat)))]
    return _sealed(_encoded([_surroundings(words), out, error, *told]))


def is_note(data: bytes) -> bool:
    """Whether bytes are what was noted of a run."""
    return _sealed(data[8:]) == data


def answer_to(words: list[str]) -> tuple[bytes, bytes] | None:
    """What a run would say to standard output and error, None where anything is not as noted."""
    try:
        with open(note_path(words), "rb", buffering=0, opener=_at_once) as file:
            data = file.read() or b""
        noted, out, error, *told = data[8:].split(b"\0")
        if not is_note(data) or noted != _encoded([_surroundings(words)]):
            return None
    except (OSError, ValueError):
        return None
    stats = (tuple(map(int, stat.split())) or None for stat in told[1::2])
    return (out, error) if unchanged(zip(told[::2], stats)) else None


def _at_once(path: str, how: int) -> int:
    return os.open(path, how | getattr(os, "O_NONBLOCK", 0))  # nobody may ever write to a pipe


def _surroundings(words: list[str]) -> str:
    """All that a run depends on and that no file says."""
    environment = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_ENVIRONMENT))
    process = (os.getcwd(), sys.version, sys.executable, sys.prefix, repr(sys.flags), *sys.path)
    return "\n".join((*words, "", *process, "", *environment))


def _encoded(fields: list[str]) -> bytes:
    return "\0".join(fields).encode("utf-8", "surrogateescape")


def _sealed(data: bytes) -> bytes:
    """`data` behind its checksum."""
    return b"%08x" % crc32(data) + data
