"""Data with a checksum, for small files that a run trusts: it reads what was written, or nothing. What the data is, and
its version, is for each format to say. This module imports next to nothing: see `io/stats.py`."""

from __future__ import annotations

from zlib import crc32


def with_checksum(data: bytes) -> bytes:
    """The data behind its checksum, on the same line."""
    return b"%08x %b" % (crc32(data), data)


def checked(stored: bytes) -> bytes | None:
    """The data from which `with_checksum` made `stored`, None if that is damaged."""
    data = stored[9:]
    return data if stored[:9] == b"%08x " % crc32(data) else None
