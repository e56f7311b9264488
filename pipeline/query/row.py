"""Rows: what is kept of one call, and as which bytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from struct import Struct as Layout
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest

from pipeline.query.query import Query

_READ = Layout("<q16s")
_encoder = msgspec.msgpack.Encoder()
_sorting = msgspec.msgpack.Encoder(order="deterministic")

SIZE = 16  # bytes of a digest
MISSING = bytes(SIZE)  # the digest of what is not there


def encode(value: object) -> bytes:
    """MessagePack; equal values that were built the same way give equal bytes."""
    return _encoder.encode(value)


def encode_sorted(value: object) -> bytes:
    """The same, with sets and mappings in order."""
    return _sorting.encode(value)


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


INPUT, ITEM = "input", "item"  # the first words of the names of rows that are no calls
NAMES = "\0"  # the item of a table that has the names of all its items

Name = tuple[Any, ...]  # of a row: what kind of row, or which query; then the key


class Taken(Protocol):
    """An input as a round takes it: its digest, and its bytes."""

    @property
    def digest(self) -> bytes: ...

    def read(self) -> bytes | None: ...


class Trace(Struct, gc=False, array_like=True):
    """One way in which a call came out: what it read, in order, and what it gave."""

    digest: bytes  # of the value
    reads: bytes  # packed pairs: the row that was read, the digest that it gave
    problems: tuple[Raw, ...] = ()
    height: int = 1  # above the rows that read nothing
    value: bytes = b""  # encoded, where it is small
    at: int = 0  # else, where it is kept: the number of the object; 0 where it is not


class Item(Struct, gc=False, array_like=True):
    """An item of a table, as the table keeps it: the digest, and the value as a trace has it."""

    digest: bytes
    value: bytes = b""
    at: int = 0


class Record(Struct, frozen=True, gc=False, array_like=True):
    """A row as it is stored."""

    name: Name
    trace: Trace


class Row:
    """A row in memory. While it is `fresh`, its digest and value hold in this round."""

    __slots__ = (
        "digest", "fresh", "height", "id", "items", "name", "older", "query", "raw", "running", "trace", "value",
    )  # fmt: skip

    def __init__(self, name: Name, id_: int, query: Query[Any, Any] | None) -> None:
        self.name = name
        self.id = id_
        self.query = query  # None: an input, or an item of a table
        self.trace: Trace | None = None
        self.older: list[Trace] | None = None  # None: not asked for yet
        self.digest = MISSING
        self.height = 0
        self.raw: bytes | None = None  # the value, encoded
        self.items: dict[str, Item] | None = None  # of a table; None: not looked at yet
        self.value: Any = UNSET
        self.fresh = False
        self.running = False


class Frame:
    """What a query that is running has read and reported so far."""

    __slots__ = ("height", "problems", "reads")

    def __init__(self) -> None:
        self.reads: dict[int, bytes] = {}
        self.problems: list[Raw] = []
        self.height = 0


def packed(reads: dict[int, bytes]) -> bytes:
    """Reads as bytes."""
    pack = _READ.pack
    return b"".join([pack(id_, found) for id_, found in reads.items()])


def unpacked(reads: bytes) -> Iterator[tuple[int, bytes]]:
    """The rows that were read, and what they gave."""
    return _READ.iter_unpack(reads)


def packed_ids(ids: Iterable[int]) -> bytes:
    """Row numbers as bytes, in order."""
    return array("q", sorted(ids)).tobytes()


def unpacked_ids(data: bytes) -> set[int]:
    """The reverse."""
    return set(array("q", data))
