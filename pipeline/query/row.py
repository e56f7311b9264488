"""Rows and the items of tables: what is kept of one call, and as which bytes.

The items of a table are in chunks: one is read, compared and stored without the others. Neighbours by name share one,
as who asks for one often asks for the next, and a name alone decides whether a chunk begins with it: so an item stays
with its neighbours when others come and go.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest

from pipeline.query.query import Parts, Query

_encoder = msgspec.msgpack.Encoder()
_sorting = msgspec.msgpack.Encoder(order="deterministic")

ID = 8  # bytes of a row's number
READ = ID + 16  # bytes of a read: the row, the digest that it gave
KIN = 2  # bytes that the number of an item has in common with that of its table
MISSING = bytes(16)  # the digest of what is not there


def encode(value: object) -> bytes:
    """MessagePack; equal values that were built the same way give equal bytes."""
    return _encoder.encode(value)


def encoded(query: Query[Any, Any], value: Any) -> bytes:
    """The value of a query as bytes. Nobody decodes those that are not kept, and these may be large."""
    if not query.keep and isinstance(value, (bytes, Parts)):
        return value if isinstance(value, bytes) else value.digest
    return (_sorting if query.sets else _encoder).encode(value)


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
    """The number that an item is known by. It begins as that of its table does: so the table is found by it."""
    return table[:KIN] + xxh3_64_digest(table + item.encode())[KIN:]


INPUT, ITEM = "input", "item"  # the first words of the names of what is no call
NAMES = "\0"  # the item of a table that stands for the names of all its items
ABSENT = "\0\0"  # one that no table has: who read a missing item is known to read the table by this one,
LOOKED = b"\1" * 16  # and what that gives, as long as there is the table

Name = tuple[Any, ...]  # what kind of row, or which query; then the key


class Taken(Protocol):
    """An input as a round takes it: its digest, and its bytes."""

    @property
    def digest(self) -> bytes: ...

    def read(self) -> bytes | None: ...


class Input:
    """Something that queries may read: its digest, and its bytes as they were when the round began."""

    __slots__ = ("_data", "digest")

    def __init__(self, data: bytes | None) -> None:
        self._data = data
        self.digest = MISSING if data is None else digest(data)

    def read(self) -> bytes | None:
        """The bytes, None where there is no such thing."""
        return self._data


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
        self.items: Items | None = None  # of a table; None: not looked at yet
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


CHUNK = 32  # items, on the average
FEW = 6  # items that stand in the outline itself


class Item(Struct, frozen=True, gc=False, array_like=True):
    """An item of a table: its encoded value, and the digest of that."""

    digest: bytes
    value: bytes


Chunk = dict[str, Item]


class Outline(Struct, frozen=True, gc=False, array_like=True):
    """The encoded value of a table."""

    names: bytes  # the digest of the names of all items, in order
    few: Chunk  # the items themselves, where they are few; else
    first: tuple[str, ...] = ()  # of each chunk: the first name in it,
    chunks: tuple[bytes, ...] = ()  # and the digest


Load = Callable[[bytes], bytes]  # an encoded value by its digest
Keep = Callable[[bytes, bytes], None]  # takes a digest, and the encoded value

_outline_decoder = msgspec.msgpack.Decoder(Outline)
_names_decoder = msgspec.msgpack.Decoder(list[str])
_chunk_decoder = msgspec.msgpack.Decoder(Chunk)


class Items:
    """The items of a table, decoded as far as somebody asked."""

    __slots__ = ("_chunks", "_load", "outline")

    def __init__(self, outline: Outline, load: Load, chunks: Iterable[Chunk] = ()) -> None:
        self.outline = outline
        self._load = load
        self._chunks = dict(enumerate(chunks))

    def get(self, name: str) -> Item | None:
        """An item by its name."""
        place = bisect_right(self.outline.first, name) - 1
        if place < 0:
            return self.outline.few.get(name)
        chunk = self._chunks.get(place)
        return (chunk if chunk is not None else self._chunk(place)).get(name)

    def digest(self, name: str) -> bytes:
        """The digest of an item, or of the names of all."""
        if name == NAMES:
            return self.outline.names
        found = self.get(name)
        return MISSING if found is None else found.digest

    def names(self) -> list[str]:
        """The names of all items, in order."""
        return _names_decoder.decode(self._load(self.outline.names)) if self.outline.first else list(self.outline.few)

    def all(self) -> Iterator[tuple[str, Item]]:
        """All items, in order."""
        for name in self.names():
            found = self.get(name)
            assert found is not None
            yield name, found

    def changed(self, after: "Items") -> dict[str, bytes]:
        """The items that are others in `after`, the names of all among them: what each gives there."""
        old, new = self._but_for(after), after._but_for(self)
        found = {name: MISSING for name in old if name not in new}
        found |= {name: item.digest for name, item in new.items() if name not in old or old[name].digest != item.digest}
        return found if self.outline.names == after.outline.names else {NAMES: after.outline.names, **found}

    def parts(self) -> Iterator[bytes]:
        """The digests that all of it is stored under."""
        if self.outline.first:
            yield self.outline.names
            yield from self.outline.chunks

    def _but_for(self, other: "Items") -> Chunk:
        """The items of the chunks that another table does not have."""
        found = dict(self.outline.few)
        same = set(other.outline.chunks)
        for place, chunk in enumerate(self.outline.chunks):
            if chunk not in same:
                found |= self._chunk(place)
        return found

    def _chunk(self, place: int) -> Chunk:
        found = self._chunks.get(place)
        if found is None:
            found = self._chunks[place] = _chunk_decoder.decode(self._load(self.outline.chunks[place]))
        return found


def made_items(values: Mapping[str, object], keep: Keep, load: Load) -> Items:
    """The items of a table that gave `values`, all of which `keep` is given."""
    names = encode(list(values))
    if len(values) <= FEW:
        return Items(Outline(digest(names), {name: _item(value) for name, value in values.items()}), load)
    chunk: Chunk = {}
    chunks: list[Chunk] = [chunk]
    items: dict[int, Item] = {}  # by the value itself: many names may stand for one
    for name in sorted(values):
        if chunk and xxh3_64_intdigest(name.encode()) % CHUNK == 0:
            chunks.append(chunk := {})
        value = values[name]
        if id(value) not in items:
            items[id(value)] = _item(value)
        chunk[name] = items[id(value)]
    raws = [names, *map(encode, chunks)]
    digests = [digest(raw) for raw in raws]
    for found, raw in zip(digests, raws):
        keep(found, raw)
    outline = Outline(digests[0], {}, tuple(next(iter(chunk)) for chunk in chunks), tuple(digests[1:]))
    return Items(outline, load, chunks)


def _item(value: object) -> Item:
    raw = _encoder.encode(value)
    return Item(xxh3_128_digest(raw), raw)


def outline_of(raw: bytes) -> Outline | None:
    """The outline that a table's encoded value is; None where it is from before the query was a table."""
    try:
        return _outline_decoder.decode(raw)
    except msgspec.MsgspecError:
        return None
