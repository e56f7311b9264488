"""Files: their stats as evidence, read at once, written whole or not at all."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from pipeline.io.stats import Stat as Stat  # noqa: PLC0414  for those who import from here
from pipeline.io.stats import stat_of as stat_of  # noqa: PLC0414
from pipeline.io.stats import unchanged as unchanged  # noqa: PLC0414

_AT_ONCE = 1000  # parts of a file that are written at once: systems take 1024


UNSETTLED = Stat(-1, 0, 0, 0, 0)  # in the place of a stat that says nothing: no file has it

# Nanoseconds after which a file that changes has other times, where the clock of its file system is not known: it ticks
# every few milliseconds, or, where it has no parts of seconds, every one or two seconds.
TICK, COARSE_TICK = 20_000_000, 2_000_000_000
_SECOND = 1_000_000_000


class Moment(NamedTuple):
    """When files were about to be read: by the clock of this machine, and by that of one file system."""

    ns: int
    device: int = -1
    own_ns: int = 0


def moment(path: str = "") -> Moment:
    """Now. `path`: a file that is touched, so that the clock of its file system is asked; it need not exist."""
    now = time.time_ns()
    try:
        os.utime(path)
        found = os.stat(path)
    except OSError:
        return Moment(now)
    return Moment(now, found.st_dev, found.st_mtime_ns)


def is_settled(found: Stat, since: Moment) -> bool:
    """Whether a file with a stat that changes after a moment gets another stat: the clock has ticked since its last
    change. Its time of change says when that was, which no program can set."""
    ctime_ns: int = found.ctime_ns
    if found.device == since.device:
        return ctime_ns < since.own_ns
    return ctime_ns < since.ns - (TICK if ctime_ns % _SECOND else COARSE_TICK)


def evidence(found: Stat | None, since: Moment) -> Stat | None:
    """A stat by which a file is known to be unchanged later on, where its contents were read after a moment; UNSETTLED
    where it may change, or may have changed, and keep that stat."""
    return found if found is None or is_settled(found, since) else UNSETTLED


def is_file(path: str) -> bool:
    """Whether there is a file, and no folder, pipe, or link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_file(path: str, size: int = -1) -> bytes | None:
    """The bytes of a file, or so many of them, None where it cannot be read, or is none: nobody may ever write to a
    pipe."""
    try:
        with open(path, "rb", opener=_at_once) as file:
            return file.read(size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def _at_once(path: str, how: int) -> int:
    return os.open(path, how | getattr(os, "O_NONBLOCK", 0), 0o666)


def make_way(path: str) -> None:
    """Removes what stands where a file is to be: another one, a link, an empty folder. OSError where it has to stay."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):  # of a folder, on one system and on another
        os.rmdir(path)


def move_file(path: str, place: str) -> None:
    """Moves a file at once, over a file or an empty folder."""
    try:
        os.replace(path, place)
    except IsADirectoryError:
        make_way(place)
        os.replace(path, place)


def replace_file(path: str, *parts: bytes) -> None:
    """Replaces a file at once: a reader sees the old bytes or the new ones, also after a kill."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            for at in range(0, len(parts), _AT_ONCE):
                _write(handle, parts[at : at + _AT_ONCE])
        finally:
            os.close(handle)
        move_file(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename, error.filename2 = path, None
        raise


def _write(handle: int, parts: Sequence[bytes]) -> None:
    """Writes all of some parts, however much of them the system takes at once."""
    left = sum(map(len, parts)) - (os.writev(handle, parts) if hasattr(os, "writev") else 0)
    if left:
        data = memoryview(b"".join(parts))
        while left:
            left -= os.write(handle, data[len(data) - left :])


def overwrite_file(path: str, data: bytes) -> None:
    """Writes a file in place, for data whose reader notices when it is torn: a replacement costs milliseconds."""
    leave_files_only(path)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        os.write(handle, data)
        os.ftruncate(handle, len(data))
    finally:
        os.close(handle)


def leave_files_only(path: str) -> None:
    """Removes what stands in the place of a file and is none: a link to another one, a pipe, an empty folder."""
    try:
        found = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found):
        make_way(path)


def remove_empty(folder: str) -> None:
    """Removes a folder if nothing is in it."""
    with suppress(OSError):
        os.rmdir(folder)
