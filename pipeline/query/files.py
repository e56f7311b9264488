"""Files as inputs: read once, at the start of a round; and files written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from pipeline.query.row import MISSING, digest, encode

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
        move_file(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename, error.filename2 = path, None
        raise


def overwrite_file(path: str, data: bytes) -> None:
    """Writes a file in place, for data whose reader notices when it is torn: a replacement costs milliseconds."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    except (IsADirectoryError, FileNotFoundError):  # a folder, a link to nowhere
        make_way(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        os.write(handle, data)
        os.ftruncate(handle, len(data))
    finally:
        os.close(handle)


def set_seal(path: str) -> Stat | None:
    """Says of a file, in one beside it, that it is as whoever writes it left it."""
    found = stat_of(path)
    overwrite_file(f"{path}.seal", encode(found))
    return found


def seal_of(path: str) -> Stat | None:
    """What the system said of a file when it was sealed, None where nobody knows."""
    try:
        found: Stat | None = msgspec.msgpack.decode(read_file(f"{path}.seal") or b"", type=Stat | None)
    except msgspec.MsgspecError:
        return None
    return found
