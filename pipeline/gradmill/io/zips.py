"""ZIP files that others may have made, with a limit for the directory at their end."""

from __future__ import annotations

from io import FileIO
from zipfile import BadZipFile, ZipFile

_LARGEST = 1 << 25  # bytes at once, the directory first: 250,000 members with long names


class BoundedZip(ZipFile):
    """A ZIP file to read. BadZipFile if its directory has more than `largest` bytes, by default more than any that
    tools of PyTorch write: Python keeps an object for each entry. The caller limits how much it reads of a member.
    """

    def __init__(self, path: str, largest: int = _LARGEST) -> None:
        self._bounded = _Bounded(path)
        self._bounded.largest = largest
        try:
            super().__init__(self._bounded)
        except BaseException:
            self._bounded.close()
            raise
        self._bounded.largest = None

    def close(self) -> None:
        """Closes the file, too."""
        super().close()
        self._bounded.close()


class _Bounded(FileIO):
    """A file from which no read takes too much at once while it is limited."""

    largest: int | None = None  # while the directory is read

    def read(self, size: int | None = -1, /) -> bytes:
        """As `FileIO.read`. BadZipFile for too much."""
        if self.largest is None:
            return super().read(size) or b""
        if size is None or not 0 <= size <= self.largest:
            size = self.largest + 1
        data = super().read(size) or b""
        if len(data) > self.largest:
            raise BadZipFile("its directory is too large")
        return data
