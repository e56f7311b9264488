"""Files and what is known of them: digests that are trusted as long as `stat` shows no change, and atomic writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container
from contextlib import suppress

from msgspec import Struct

from pipeline.model.artifact import digest

# File systems stamp times from a clock that ticks every few milliseconds: a file that changed this shortly before it
# was read may change again without its times moving, so that its stamp cannot be trusted.
RACY_NS = 20_000_000

Stat = tuple[int, int, int, int]


class Stamp(Struct, frozen=True, gc=False, array_like=True):
    """A file's state when its digest was computed."""

    stat: Stat  # size, mtime, ctime, inode
    digest: bytes
    racy: bool = False


class Stamps:
    """Digests of files by path. `known` is what earlier runs left; `changed` tells whether there is more to keep."""

    def __init__(self, known: dict[str, Stamp]) -> None:
        self.known = known
        self.changed = False
        self._seen: dict[str, bytes | None] = {}

    def digest(self, path: str, read: Callable[[str], bytes] | None = None) -> bytes | None:
        """Digest of the file at `path` as it is now, None when it cannot be read."""
        try:
            stat = _stat(path)
        except OSError:
            return None
        stamp = self.known.get(path)
        if stamp is not None and stamp.stat == stat and not stamp.racy:
            return stamp.digest
        try:
            data = (read or read_file)(path)
        except OSError:
            return None
        found = digest(data)
        self.record(path, stat, found, now=time.time_ns())
        return found

    def record(self, path: str, stat: Stat, found: bytes, *, now: int = 0) -> None:
        """Remembers a digest. `now` is when the file was read, 0 for a file that this process wrote."""
        racy = bool(now) and now - max(stat[1], stat[2]) < RACY_NS
        old = self.known.get(path)
        self.known[path] = Stamp(stat, found, racy)
        # A racy stamp that only repeats itself is not worth a write.
        if old is None or old.stat != stat or old.digest != found or old.racy != racy:
            self.changed = True

    def forget(self, path: str) -> None:
        if self.known.pop(path, None) is not None:
            self.changed = True


def _stat(path: str | int) -> Stat:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def stat_of(path: str) -> Stat:
    """What a stamp compares."""
    return _stat(path)


def remove_abandoned(folder: str, names: Container[str]) -> None:
    """Removes what killed writers of the files called `names` left in `folder`."""
    with suppress(OSError):
        for found in os.listdir(folder):
            name, _, writer = found.removesuffix(".tmp").rpartition(".")
            if found.endswith(".tmp") and name in names and writer.isdecimal() and not _runs(int(writer)):
                os.unlink(os.path.join(folder, found))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write_file(path: str, data: bytes) -> Stat:
    """Replaces the file at `path` at once: a reader sees the old bytes or the new ones, also after a kill.

    Gives the stat of what it wrote, whoever else replaced the file since.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.replace(temporary, path)
            return _stat(handle)
        finally:
            os.close(handle)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
