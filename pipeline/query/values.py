"""The encoded values of a store: one after another in a file that only grows. Where each is, the store knows.

A value is looked at with its digest in hand, so nothing here needs to be right: what was not written, cut or altered
is missing. What no store refers to, after a kill or a round that was not kept, is room that is lost until `doit gc`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

Place = tuple[int, int]  # where a value begins, how long it is


class Values:
    """One file, or memory where there can be none. Several processes may add to it at once."""

    def __init__(self, path: str | None, *, anew: bool = False) -> None:
        self._memory = bytearray()
        how = os.O_RDWR | os.O_APPEND | os.O_CREAT | (os.O_TRUNC if anew else 0)
        self._file = None if path is None else os.open(path, how, 0o666)

    def add(self, values: Iterable[bytes]) -> list[Place]:
        """Adds values, and says where they are. OSError where the disk is full."""
        data = [*values]
        begin = self._append(b"".join(data))
        places = []
        for each in data:
            places.append((begin, len(each)))
            begin += len(each)
        return places

    def _append(self, data: bytes) -> int:
        """Where the data begins."""
        if self._file is None:
            self._memory += data
            return len(self._memory) - len(data)
        written = os.write(self._file, data)
        if written < len(data):
            raise OSError(None, "not all of it could be written")
        return os.lseek(self._file, 0, os.SEEK_CUR) - written  # where the system put it, whoever else adds

    def read(self, place: Place) -> bytes:
        """What stands at a place; less where the file ends before."""
        begin, size = place
        if self._file is None:
            return bytes(self._memory[begin : begin + size])
        return os.pread(self._file, size, begin)

    def close(self) -> None:
        """Lets go of the file."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None
