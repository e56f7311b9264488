"""Blobs that are compressed with zstd on their way. What a server sends is decompressed in small parts, so that the
caller can end where there is more than was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError

from pipeline.front.remote.protocol import RemoteWrong

_LEVEL = 6  # what is written once is read by many
_WINDOW = 1 << 27  # bytes of memory for a stream, at most
_PART = 1 << 18


def compressed(file: IO[bytes], size: int, part: int) -> Iterator[bytes]:
    """The compressed content of a file of `size` bytes, in parts."""
    return ZstdCompressor(level=_LEVEL).read_to_iter(file, size=size, write_size=part)


def compress(data: bytes) -> bytes:
    """Compressed data."""
    return ZstdCompressor(level=_LEVEL).compress(data)


def decompressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a stream of compressed parts, in small parts of its own. RemoteWrong if it is damaged."""
    reader = ZstdDecompressor(max_window_size=_WINDOW).stream_reader(_Source(parts), read_across_frames=True)  # type: ignore[arg-type]
    try:
        while data := reader.read(_PART):
            yield data
    except ZstdError:
        raise RemoteWrong("a compressed blob is damaged") from None


class _Source:
    """Parts as a file to read from."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""

    def read(self, size: int) -> bytes:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._rest = part
        data, self._rest = self._rest[:size], self._rest[size:]
        return data
