"""Bytes that are kept in an unnamed file rather than in memory."""

from __future__ import annotations

import os
from typing import IO


class Spill:
    """Bytes by name, in one unnamed file in `folder`, which must exist when the first are kept. The file needs no
    removal: it ends with the process, or with `close`. OSError if the file cannot be written."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._places: dict[str, tuple[int, int]] = {}

    def keep(self, name: str, data: bytes) -> None:
        """Keeps the bytes of a name that has none yet."""
        if self._file is None:
            from tempfile import TemporaryFile  # only a run with something to keep needs it

            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(data)
        self._file.flush()
        self._places[name] = start, len(data)

    def take(self, name: str) -> bytes | None:
        """The bytes of a name; None if it has none."""
        if name not in self._places or self._file is None:
            return None
        start, size = self._places[name]
        self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        """Drops all bytes."""
        self._places = {}
        if self._file is not None:
            self._file.close()
            self._file = None
