"""Files that someone has made to hold up their reader."""

from __future__ import annotations

import struct


def _directory(count: int, more: bytes = b"") -> bytes:
    """So many entries of a central directory."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, *[0] * 8, 1, len(more), *[0] * 5)
    return (entry + b"a" + more) * count


def _zip64(directory: bytes, count: int) -> bytes:
    """An archive of that directory, whose size only the records of ZIP64 have."""
    size = len(directory)
    records = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, 0)
    records += struct.pack("<4sLQL", b"PK\6\7", 0, size, 1)
    return directory + records + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)


def large_directory(count: int) -> bytes:
    """An archive of nothing but a directory with so many entries."""
    return _zip64(_directory(count), count)
