"""Encoded values one after another in a file that only grows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from pipeline.io.files import leave_files_only
from pipeline.query.row import digest

Place = int  # where a value begins, and how long it is: in the upper bits, and in the lower ones
_SIZE = 32  # bits of a size


class StoreDamaged(Exception):
    """A store does not hold what was put there: the round starts again on an empty one. Says what is wrong."""


class Values:
    """Values by digest, in a file to which several processes may add at once. `placed` are those that this one added,
    `index` knows others. Values are in memory where there is no file, or none that `keeps` them, and from the first
    write that fails, which `problem` is: it is not tried again.

    A value is verified by its digest when it is read. What no index refers to, after a kill or a round that was not
    kept, is room that is lost.
    """

    def __init__(
        self, path: str | None, index: Callable[[bytes], Place | None], *, anew: bool = False, keeps: bool = True
    ) -> None:
        self.placed: dict[bytes, Place] = {}
        self.problem: OSError | None = None
        self._index = index
        self._held: dict[bytes, bytes] = {}
        self._path = path
        if path is not None and anew:
            leave_files_only(path)
        self._keeps = keeps
        how = os.O_RDWR | os.O_APPEND if keeps else os.O_RDONLY
        how |= os.O_CREAT | os.O_TRUNC if anew else getattr(os, "O_NONBLOCK", 0)
        self._file = None if path is None else os.open(path, how, 0o666)

    def get(self, found: bytes) -> bytes | None:
        """The value with a digest, None where it was never added. StoreDamaged where it is another one by now."""
        if found in self._held:
            return self._held[found]
        place = self.placed.get(found) or self._index(found)
        if place is None:
            return None
        data = self.at(place)
        if digest(data) != found:
            raise StoreDamaged("a value is missing")
        return data

    def at(self, place: Place) -> bytes:
        """The bytes at a place, as far as there are any."""
        assert self._file is not None
        try:
            return os.pread(self._file, place & (1 << _SIZE) - 1, place >> _SIZE)
        except OSError as error:
            raise StoreDamaged(f"a value cannot be read: {error.strerror}") from None

    def add(self, values: Mapping[bytes, bytes]) -> None:
        """Adds values by their digests."""
        new = {found: raw for found, raw in values.items() if found not in self.placed and self._index(found) is None}
        if self._file is not None and self._keeps and self.problem is None:
            try:
                begin = self._append(b"".join(new.values()))
            except OSError as error:
                self.problem = OSError(error.errno, error.strerror, self._path)
            else:
                for found, raw in new.items():
                    self.placed[found] = begin << _SIZE | len(raw)
                    begin += len(raw)
                return
        self._held |= new

    def hold(self) -> None:
        """Takes what was added to the file into memory, for a file that is removed to leave room to others."""
        self._held |= {found: self.at(place) for found, place in self.placed.items()}
        self.placed = {}
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _append(self, data: bytes) -> int:
        """Where the data begins."""
        assert self._file is not None
        written = os.write(self._file, data) if data else 0
        if written < len(data):
            os.write(self._file, data[written:])  # the system says why
            raise OSError(None, "not all of it could be written")
        return os.lseek(self._file, 0, os.SEEK_CUR) - len(data)  # where the system put it, whoever else adds
