"""Files as inputs, read once, at the start of a round; files written whole or not at all; one that only grows."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec
from xxhash import xxh3_64_digest

from pipeline.query.row import MISSING, digest, encode

Stat = tuple[int, int, int, int]

_AT_ONCE = 1000  # parts of a file that are written at once: systems take 1024

_seal_decoder = msgspec.msgpack.Decoder(list[Stat | None])


class CodeChanged(Exception):
    """The program's own code changed while it ran: what runs is neither the old nor the new one."""


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
    _leave_files_only(path)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        os.write(handle, data)
        os.ftruncate(handle, len(data))
    finally:
        os.close(handle)


def _leave_files_only(path: str) -> None:
    """Removes what stands in the place of a file and is none: a link to another one, a pipe, an empty folder."""
    try:
        found = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found):
        make_way(path)


def set_seal(*paths: str) -> list[Stat | None]:
    """Says of files, in one beside the first, that they are as whoever writes them left them."""
    found = list(map(stat_of, paths))
    overwrite_file(f"{paths[0]}.seal", encode(found))
    return found


def seal_of(path: str) -> list[Stat | None]:
    """What the system said of files when they were sealed; empty where nobody knows."""
    try:
        found: list[Stat | None] = _seal_decoder.decode(read_file(f"{path}.seal") or b"")
    except msgspec.MsgspecError:
        return []
    return found


def sealed(payload: bytes) -> bytes:
    """`payload` with a checksum ahead of it."""
    return xxh3_64_digest(payload) + payload


def unsealed(data: bytes | None) -> bytes | None:
    """The payload, None where the checksum does not hold."""
    return data[8:] if data and xxh3_64_digest(data[8:]) == data[:8] else None


Place = int  # where a value begins, and how long it is: in the upper bits, and in the lower ones
_SIZE = 32  # bits of a size


class Values:
    """Encoded values one after another in a file that only grows, or in memory where there can be none. Several
    processes may add to it at once. `placed` are the values that were added, by digest; `index` knows others.

    A value is looked at with its digest in hand, so nothing here needs to be right: what was not written, was cut or
    altered is missing. What no index refers to, after a kill or a round that was not kept, is room that is lost.
    """

    def __init__(self, path: str | None, index: Callable[[bytes], Place | None], *, anew: bool = False) -> None:
        self.placed: dict[bytes, Place] = {}
        self._index = index
        self._memory = bytearray()
        how = os.O_RDWR | os.O_APPEND | os.O_CREAT | (os.O_TRUNC if anew else 0)
        if path is not None:
            _leave_files_only(path)
        self._file = None if path is None else os.open(path, how, 0o666)

    def get(self, found: bytes) -> bytes | None:
        """The value with a digest, None where it is not there or was damaged."""
        place = self.placed.get(found) or self._index(found)
        data = None if place is None else self._read(place >> _SIZE, place & (1 << _SIZE) - 1)
        return data if data is not None and digest(data) == found else None

    def add(self, values: Mapping[bytes, bytes]) -> None:
        """Adds values by their digests. OSError where the disk is full."""
        news = [found for found in values if found not in self.placed and self.get(found) is None]
        begin = self._append(b"".join([values[found] for found in news]))
        for found in news:
            self.placed[found] = begin << _SIZE | len(values[found])
            begin += len(values[found])

    def close(self) -> None:
        """Lets go of the file."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _append(self, data: bytes) -> int:
        """Where the data begins."""
        if self._file is None:
            self._memory += data
            return len(self._memory) - len(data)
        if data and os.write(self._file, data) < len(data):
            raise OSError(None, "not all of it could be written")
        return os.lseek(self._file, 0, os.SEEK_CUR) - len(data)  # where the system put it, whoever else adds

    def _read(self, begin: int, size: int) -> bytes:
        if self._file is None:
            return bytes(self._memory[begin : begin + size])
        return os.pread(self._file, size, begin)
