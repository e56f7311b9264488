"""Encoded values one after another in a file that only grows."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from pipeline.query.memo import StoreDamaged, digest

Place = int  # where a value begins, and how long it is: in the upper bits, and in the lower ones
_SIZE = 32  # bits of a size
LARGEST = 1 << 25  # bytes of a value that is taken from others: the largest one of all families has 800,000
_BUFFER = 100_000  # bytes that are written at once to a new file,
_LARGE_BUFFER = 12_000_000  # and to an old one: a process that only looks, and never commits, should not write to it


def size_at(place: Place) -> int:
    """How long the value at a place is."""
    return place & (1 << _SIZE) - 1


class Values:
    """Values by digest, in a file to which several processes may append at once. `index` finds what was committed,
    `placed` has what this process added.

    A value is verified by its digest when it is read. From the first failed write on, which is `problem`, values stay
    in memory. What no index refers to, after a kill or a revision that was not committed, is lost space until the next
    garbage collection.
    """

    def __init__(
        self, path: str, file: int, index: Callable[[bytes], Place | None] = lambda _: None, *, is_new: bool = False
    ) -> None:
        """`file`: the descriptor of the file at `path`. `is_new`: it is deleted if it cannot be written."""
        self.placed: dict[bytes, Place] = {}
        self.problem: OSError | None = None
        self._index = index
        self._path = path
        self._is_new = is_new
        self._held: dict[bytes, bytes] = {}  # not in the file
        self._held_size = 0
        self._file = file

    def get(self, key: bytes) -> bytes:
        """The value with a digest. StoreDamaged if it is not there."""
        if key in self._held:
            return self._held[key]
        data = self.at(self.placed.get(key) or self._index(key) or 0)
        if digest(data) != key:
            raise StoreDamaged("a value is missing, or older than the rest")
        return data

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return os.fstat(self._file).st_size

    def at(self, place: Place) -> bytes:
        """The bytes at a place; fewer if the file ends before."""
        try:
            return os.pread(self._file, size_at(place), place >> _SIZE)
        except OSError as error:
            raise StoreDamaged(f"a value cannot be read: {error.strerror}") from None

    def add(self, key: bytes, value: bytes) -> None:
        """Adds a value by its digest."""
        if key not in self._held and key not in self.placed and self._index(key) is None:
            self._held[key] = value
            self._held_size += len(value)
            if self._held_size > (_BUFFER if self._is_new else _LARGE_BUFFER):
                self.flush()

    def flush(self) -> None:
        """Appends what was added to the file."""
        if self.problem is not None or not self._held:
            return
        try:
            end = self._append(b"".join(self._held.values()))
        except OSError as error:
            self.problem = OSError(error.errno, error.strerror, self._path)
            if self._is_new:
                self._delete()
            return
        begin = end - self._held_size
        for key, value in self._held.items():
            self.placed[key] = begin << _SIZE | len(value)
            begin += len(value)
        self._held, self._held_size = {}, 0

    def _append(self, data: bytes) -> int:
        """The size of the file afterwards."""
        written = os.write(self._file, data)
        if written < len(data):
            os.write(self._file, data[written:])  # the system says why
            raise OSError(None, "not all of it could be written")
        return os.lseek(self._file, 0, os.SEEK_CUR)  # the end of this write, even if other processes append

    def _delete(self) -> None:
        """Takes all values into memory, and leaves the disk to others."""
        self._held |= {key: self.at(place) for key, place in self.placed.items()}
        self.placed = {}
        with suppress(OSError):
            os.ftruncate(self._file, 0)  # it is open, so its space would remain taken
            os.unlink(self._path)

    def close(self) -> None:
        """Closes the file."""
        with suppress(OSError):
            os.close(self._file)
