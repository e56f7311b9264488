"""Rows: what is kept of one call, and as which bytes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct
from xxhash import xxh3_64_digest, xxh3_128_digest

from pipeline.query.query import Query

_encoder = msgspec.msgpack.Encoder()
_sorting = msgspec.msgpack.Encoder(order="deterministic")

ID = 8  # bytes of a row's number
READ = ID + 16  # bytes of a read: the row, the digest that it gave
MISSING = bytes(16)  # the digest of what is not there


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


def identity(name: tuple[object, ...]) -> bytes:
    """The number that a row is known by, from its query and key."""
    return xxh3_64_digest(_encoder.encode(name))


def item_identity(table: bytes, item: str) -> bytes:
    """The number that an item is known by, from that of its table."""
    return xxh3_64_digest(table + item.encode())


def sealed(payload: bytes) -> bytes:
    """`payload` with a checksum ahead of it."""
    return xxh3_64_digest(payload) + payload


def unsealed(data: bytes | None) -> bytes | None:
    """The payload, None where the checksum does not hold."""
    return data[8:] if data and xxh3_64_digest(data[8:]) == data[:8] else None


INPUT, ITEM = "input", "item"  # the first words of the names of what is no call
NAMES = "\0"  # the item of a table that stands for the names of all its items
ABSENT = "\0\0"  # one that no table has: who read a missing item is known to read the table by this one

Name = tuple[Any, ...]  # what kind of row, or which query; then the key


class Taken(Protocol):
    """An input as a round takes it: its digest, and its bytes."""

    @property
    def digest(self) -> bytes: ...

    def read(self) -> bytes | None: ...


class Trace(Struct, frozen=True, gc=False, array_like=True):
    """One way in which a call came out: what it read, in order, and what it gave."""

    digest: bytes  # of the encoded value, which it is stored under
    reads: bytes  # of each: the row that was read, the digest that it gave
    problems: tuple[Raw, ...]
    height: int  # above the rows that read nothing
    value: bytes = b""  # encoded, where it is small


class Record(Struct, frozen=True, gc=False, array_like=True):
    """A row as it is stored."""

    name: Name
    trace: Trace


class Row:
    """A row in memory. While it is `fresh`, its digest and value hold in this round."""

    __slots__ = (
        "digest",
        "fresh",
        "height",
        "id",
        "items",
        "name",
        "older",
        "query",
        "running",
        "trace",
        "used",
        "value",
    )

    def __init__(self, name: Name, id_: bytes, query: Query[Any, Any] | None) -> None:
        self.name = name
        self.id = id_
        self.query = query  # None: an input
        self.trace: Trace | None = None
        self.older: list[Trace] | None = None  # None: not asked for yet
        self.digest = MISSING
        self.height = 0
        self.items: Any = None  # Items, of a table; None: not looked at yet
        self.value: Any = UNSET
        self.used = False  # whether the value was asked for since somebody looked
        self.fresh = False
        self.running = False


class Frame:
    """What a query that is running has read and reported so far."""

    __slots__ = ("height", "problems", "reads")

    def __init__(self) -> None:
        self.reads: dict[bytes, bytes] = {}
        self.problems: list[Raw] = []
        self.height = 0


def packed(reads: Mapping[bytes, bytes]) -> bytes:
    """Reads as bytes."""
    return b"".join([part for read in reads.items() for part in read])


def unpacked(reads: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The rows that were read, and what they gave."""
    for at in range(0, len(reads), READ):
        yield reads[at : at + ID], reads[at + ID : at + READ]


def places(data: bytes, id_: bytes, size: int) -> Iterator[int]:
    """Where, in `data` of entries of one size, those are that start with a number."""
    at = data.find(id_)
    while at >= 0:
        if at % size == 0:
            yield at
        at = data.find(id_, at + 1)


def packed_ids(ids: Iterable[bytes]) -> bytes:
    """Row numbers as bytes, in order."""
    return b"".join(sorted(ids))


def unpacked_ids(data: bytes) -> set[bytes]:
    """The reverse."""
    return {data[at : at + ID] for at in range(0, len(data), ID)}
