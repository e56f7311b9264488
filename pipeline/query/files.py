"""Files as inputs: read once, at the start of a round; and files written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from pipeline.query.row import MISSING, digest

Stat = tuple[int, int, int, int]


class Input:
    """Something that queries may read: its digest, and its bytes as they were when the round began."""

    __slots__ = ("_data", "digest")

    def __init__(self, data: bytes | None) -> None:
        self._data = data
        self.digest = MISSING if data is None else digest(data)

    def read(self) -> bytes | None:
        """The bytes, None where there is no such thing."""
        return self._data


def stat_of(path: str) -> Stat | None:
    """What the system says of a file, None where there is none: size, times, inode."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def read_file(path: str) -> bytes | None:
    """The bytes of a file, None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def snapshot(paths: Iterable[tuple[str, str]], read: Callable[[str], bytes | None] = read_file) -> dict[str, Input]:
    """Files as inputs, from pairs of a label and a path."""
    return {label: Input(read(path)) for label, path in paths}


def replace_file(path: str, data: bytes | memoryview) -> None:
    """Replaces a file at once: a reader sees the old bytes or the new ones, also after a kill."""
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
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def overwrite_file(path: str, data: bytes) -> None:
    """Writes a file in place, for data whose reader notices when it is torn: a replacement costs milliseconds."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        os.write(handle, data)
        os.ftruncate(handle, len(data))
    finally:
        os.close(handle)
