"""Files: stats as evidence that a file is unchanged, reads, and atomic writes."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from gradmill.io.stats import numbers_of as numbers_of  # noqa: PLC0414  re-exported


class Stat(NamedTuple):
    """The stat of a file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


as_stat = partial(tuple.__new__, Stat)  # of its numbers; `Stat(...)` is a Python call, and a run takes thousands
_PART = 1 << 17  # bytes that are written at once
_SAFE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)  # opening a pipe blocks; a link leads elsewhere
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE

UNSETTLED = Stat(-1, 0, 0, 0, 0)  # in place of a stat that proves nothing: no file has it

# Nanoseconds after which a changed file has other times, if the clock of its file system is not known: it ticks every
# few milliseconds, or every one or two seconds if its times are whole seconds.
TICK, COARSE_TICK = 20_000_000, 2_000_000_000
_SECOND = 1_000_000_000


def stat_of(path: str | bytes | int) -> Stat | None:
    """The stat of a file, following links, also of an open one. None if it is missing."""
    numbers = numbers_of(path)
    return None if numbers is None else as_stat(numbers)


class Moment(Struct, frozen=True):
    """The time right before files were read, by the clock of this machine and by that of one file system."""

    ns: int
    device: int = -1
    own_ns: int = 0


def moment(path: str = "") -> Moment:
    """The current time. `path`: a file to touch, if it exists, to read the clock of its file system."""
    now = time.time_ns()
    with suppress(OSError):
        if is_file(path):  # a link may lead to a file of others
            os.utime(path)
            status = os.stat(path)
            return Moment(now, status.st_dev, status.st_mtime_ns)
    return Moment(now)


def is_settled(known: Stat, since: Moment) -> bool:
    """Whether each change of a file after `since` changes its stat: the clock ticked since the file's last change.

    Uses the change time (ctime), which no program can set.
    """
    ctime_ns: int = known.ctime_ns
    if known.device == since.device:
        return ctime_ns < since.own_ns
    return ctime_ns < since.ns - (TICK if ctime_ns % _SECOND else COARSE_TICK)


def evidence(known: Stat | None, since: Moment) -> Stat | None:
    """A stat that later proves a file unchanged, if the file was read after `since`. UNSETTLED if the file can change,
    or can have changed, without changing its stat."""
    return known if known is None or is_settled(known, since) else UNSETTLED


def is_file(path: str) -> bool:
    """Whether `path` is a regular file: no folder, pipe or link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def files_in(folder: str, end: str = "") -> list[str]:
    """The sorted paths of the regular files in a folder whose names end with `end`; none if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            named = [entry for entry in entries if entry.name.endswith(end)]
            return sorted(entry.path for entry in named if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def read_file(path: str, size: int = -1) -> bytes | None:
    """The bytes of a file, or its first `size` bytes. None if it cannot be read or is not a regular file."""
    try:
        with open(path, "rb", buffering=0, opener=open_regular) as file:
            return file.read(size)
    except OSError:
        return None


def read_with_stat(path: str) -> tuple[bytes | None, Stat | None]:
    """The bytes of a file as `read_file` has them, and the stat that the file with these bytes had afterwards."""
    try:
        with open(path, "rb", buffering=0, opener=open_regular) as file:
            return file.read(), stat_of(file.fileno())
    except OSError:
        return None, stat_of(path)


def open_regular(path: str, how: int) -> int:
    """Opens a regular file; returns its descriptor. `how`: flags of `os.open`. OSError if it is missing or no regular
    file: reading a pipe could block forever, and a device may never end."""
    file = os.open(path, how | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return file


def make_way(path: str) -> None:
    """Deletes the file, link or empty folder at `path`, if any. OSError if it cannot be deleted."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):  # of a folder, on one system and on another
        os.rmdir(path)


def move_file(path: str, place: str) -> None:
    """Moves a file atomically, over a file or an empty folder."""
    try:
        os.replace(path, place)
    except IsADirectoryError:
        make_way(place)
        os.replace(path, place)


def new_file(path: str) -> tuple[str, int]:
    """Creates an empty file next to `path`, to be moved there: its path, and its descriptor for reading and writing.

    All files of gradmill's begin so. Its name is random: nothing that others put in the folder, a link least of all,
    is opened in its place. It names this process, so that `remove_abandoned` recognizes it after a kill. Creates
    missing folders. OSError, with the name of `path`, if it cannot be created."""
    temporary = f"{path}.{os.getpid()}.{os.urandom(8).hex()}.tmp"
    try:
        try:
            return temporary, os.open(temporary, _CREATE, 0o666)
        except (FileNotFoundError, NotADirectoryError):
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            return temporary, os.open(temporary, _CREATE, 0o666)
    except OSError as error:
        if error.filename == temporary:
            error.filename = path
        raise


def remove_abandoned(folder: str, names: Iterable[str]) -> None:
    """Deletes the files that killed processes began with `new_file` in `folder`, next to the files `names`."""
    left = files_in(folder, ".tmp")
    wanted = set(names) if left else set()  # of thousands of files
    for path in left:
        name, process, _, end = ("", "", "", *os.path.basename(path).rsplit(".", 3))[-4:]
        if end == "tmp" and name in wanted and process.isdecimal() and not runs(int(process)):
            with suppress(OSError):
                os.unlink(path)


def runs(process: int) -> bool:
    """Whether a process with this id runs."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def replace_file(path: str, *parts: bytes | memoryview) -> None:
    """Replaces a file atomically: a reader sees the old bytes or the new bytes, even after a kill. After an error,
    nothing is left of the new ones. Creates missing folders. OSError, with the name of the file, if it cannot be
    written."""
    _replace(path, parts, move_file)


def put_file(path: str, data: bytes) -> None:
    """Replaces a file, which is missing for a moment, and stays so after a kill: some file systems take milliseconds
    for an atomic replacement. Otherwise as `replace_file`."""
    _replace(path, (data,), _put)


def _put(path: str, place: str) -> None:
    make_way(place)
    os.rename(path, place)


def _replace(path: str, parts: Sequence[bytes | memoryview], move: Callable[[str, str], object]) -> None:
    temporary = ""
    try:
        temporary, handle = new_file(path)
        with open(handle, "wb", _PART) as file:
            file.writelines(parts)
        move(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename, error.filename2 = path, None
        raise


def open_file(path: str, how: int) -> int:
    """Opens a regular file of gradmill's own that exists, whose contents the caller has verified; returns its
    descriptor. `how`: flags of `os.open`. OSError if it is missing, a link, or no regular file."""
    return open_regular(path, how | _SAFE)


def open_lock(path: str) -> int:
    """Opens a file to lock, and creates it if it is missing; nothing is written to it. OSError if it is a link, or
    cannot be opened."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | _SAFE, 0o666)


def leave_files_only(path: str) -> None:
    """Deletes whatever is at `path`, unless it is a regular file: a link, a pipe, an empty folder."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        make_way(path)


def remove_empty(folder: str) -> None:
    """Deletes a folder if it is empty."""
    with suppress(OSError):
        os.rmdir(folder)
