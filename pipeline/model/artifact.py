"""Artifacts: what a stage leaves for the next ones. Frozen Structs, MessagePack-encoded, named by their digest.

Every artifact type carries its name and format version as a tag, which decoding checks. Rows that a later run may
take over unread are kept encoded (`msgspec.Raw`), each beside the key that says what it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from xxhash import xxh3_128_digest

T = TypeVar("T")

_encoder = msgspec.msgpack.Encoder()


def encode(value: object) -> bytes:
    """MessagePack; equal values that were built the same way give equal bytes."""
    return _encoder.encode(value)


def digest(data: bytes) -> bytes:
    """The 128-bit XXH3 of `data`: what artifacts are named by."""
    return xxh3_128_digest(data)


def digest_of(parts: Iterable[bytes | str]) -> bytes:
    """The digest of several values, none of which can run into the next."""
    return digest(encode(list(parts)))


class Artifact(msgspec.Struct, frozen=True, dict=True, tag_field="format"):
    """Base of all artifact types."""
