"""zstd, if its package is installed. What others have compressed is decompressed in small parts, so that the caller can
end where there is more than was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

_LEVEL = 6  # what is written once is read by many
_WINDOW = 1 << 27  # bytes of memory for a stream, at most
_PART = 1 << 18


@cache
def is_usable() -> bool:
    """Whether the package can be loaded."""
    try:
        import zstandard  # noqa: F401
    except Exception:  # whatever a broken installation raises
        return False
    return True


def compressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The compressed content of parts, in small parts."""
    from zstandard import ZstdCompressor

    chunker = ZstdCompressor(level=_LEVEL).chunker(chunk_size=_PART)
    for each in parts:
        yield from chunker.compress(each)
    yield from chunker.finish()  # type: ignore[no-untyped-call]


def decompressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a stream of compressed parts, in small parts. ValueError if it is damaged."""
    from zstandard import ZstdDecompressor, ZstdError

    reader = ZstdDecompressor(max_window_size=_WINDOW).stream_reader(_Source(parts), read_across_frames=True)  # type: ignore[arg-type]
    try:
        while data := reader.read(_PART):
            yield data
    except ZstdError as error:
        raise ValueError(str(error)) from None


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
