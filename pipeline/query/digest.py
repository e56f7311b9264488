"""Values as bytes, and what bytes are named by."""

from __future__ import annotations

import msgspec
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest

_encoder = msgspec.msgpack.Encoder()

SIZE = 16  # bytes of a digest
MISSING = bytes(SIZE)  # the digest of what is not there


def encode(value: object) -> bytes:
    """MessagePack; equal values that were built the same way give equal bytes."""
    return _encoder.encode(value)


def digest(data: bytes) -> bytes:
    """The 128-bit XXH3 of `data`."""
    return xxh3_128_digest(data)


def digest_of(*parts: object) -> bytes:
    """The digest of several values, none of which can run into the next."""
    return xxh3_128_digest(_encoder.encode(parts))


def identity(name: tuple[object, ...]) -> int:
    """The number that a row is stored under, from its query and key."""
    return xxh3_64_intdigest(_encoder.encode(name)) - (1 << 63)


def sealed(payload: bytes) -> bytes:
    """`payload` with a checksum ahead of it."""
    return xxh3_64_digest(payload) + payload


def unsealed(data: bytes | None) -> bytes | None:
    """The payload, None where the checksum does not hold."""
    return data[8:] if data and xxh3_64_digest(data[8:]) == data[:8] else None
