"""The items of tables, in chunks: one chunk is read, compared and stored without the others.

Neighbours by name share a chunk, since one item is often requested after its neighbour. An item alone decides whether a
chunk begins with it, so items keep their neighbours when others are added or deleted: a large one does.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from gradmill.query.memo import MISSING, NAMES, Item, StoreDamaged, decode, digest, encode

_CHUNK = 32  # items, on average
_LARGE = 2_000  # bytes of an item
_LIST = b"\xdd%b"  # the beginning of an encoded list of so many items


class Entry(Struct, frozen=True, gc=False, array_like=True):
    """An item: its encoded value, and the digest of that."""

    digest: bytes
    value: bytes


Chunk = dict[str, Entry]


class Outline(Struct, frozen=True, gc=False, array_like=True):
    """The encoded value of a table."""

    names: bytes  # the digest of the names of all items, in order
    first: tuple[str, ...]  # of each chunk: the first name in it,
    chunks: tuple[bytes, ...]  # and the digest


T = TypeVar("T")
Load = Callable[[bytes], bytes]  # an encoded value by its digest
Keep = Callable[[bytes, bytes], object]  # takes a digest, and the encoded value

_outline_decoder = msgspec.msgpack.Decoder(Outline)
_names_decoder = msgspec.msgpack.Decoder(list[str])
_chunk_decoder = msgspec.msgpack.Decoder(Chunk)


class Items:
    """The items of a table, each decoded when it is requested."""

    __slots__ = ("_chunks", "_load", "outline")

    def __init__(self, outline: Outline, load: Load, chunks: Iterable[Chunk] = ()) -> None:
        self.outline = outline
        self._load = load
        self._chunks = dict(enumerate(chunks))

    def get(self, name: str) -> Entry | None:
        """An item by its name."""
        place = bisect_right(self.outline.first, name) - 1
        return None if place < 0 else self._chunk(place).get(name)

    def digest(self, item: Item) -> bytes:
        """The digest of an item, MISSING if it is absent, or that of the names of all."""
        if item is NAMES:
            return self.outline.names
        entry = self.get(str(item))
        return MISSING if entry is None else entry.digest

    def names(self) -> list[str]:
        """The names of all items, in order."""
        return decode(_names_decoder, self._load(self.outline.names))

    def all(self, decoder: msgspec.msgpack.Decoder[list[T]]) -> dict[str, T]:
        """All items, in order. They are decoded as one list: there are thousands."""
        entries: Chunk = {}
        for place in range(len(self.outline.chunks)):
            entries |= self._chunk(place)
        names = self.names()
        try:
            data = (_LIST % len(names).to_bytes(4, "big"), *(entries[name].value for name in names))
        except KeyError:
            raise StoreDamaged("an item of a table is missing") from None
        values: list[T] = decode(decoder, b"".join(data))
        return dict(zip(names, values))

    def changed(self, after: "Items") -> dict[Item, bytes]:
        """The items that differ in `after`, NAMES among them, with their digests there."""
        old, new = self._except_shared(after), after._except_shared(self)
        changed: dict[Item, bytes] = {name: MISSING for name in old if name not in new}
        changed |= {
            name: entry.digest for name, entry in new.items() if name not in old or old[name].digest != entry.digest
        }
        return changed if self.outline.names == after.outline.names else {NAMES: after.outline.names, **changed}

    def _except_shared(self, other: "Items") -> Chunk:
        """The items of all chunks that another table does not have."""
        items: Chunk = {}
        shared = set(other.outline.chunks)
        for place, chunk in enumerate(self.outline.chunks):
            if chunk not in shared:
                items |= self._chunk(place)
        return items

    def _chunk(self, place: int) -> Chunk:
        chunk = self._chunks.get(place)
        if chunk is None:
            chunk = self._chunks[place] = decode(_chunk_decoder, self._load(self.outline.chunks[place]))
        return chunk


def make_items(values: Mapping[str, object], keep: Keep, load: Load) -> Items:
    """The items of a table that returned `values`. `keep` stores its parts."""
    names = encode(list(values))
    chunk: Chunk = {}
    chunks: list[Chunk] = []
    entries: dict[int, Entry] = {}  # by the value's identity: many names may share one value
    for name in sorted(values):
        value = values[name]
        if id(value) not in entries:
            data = encode(value)
            entries[id(value)] = Entry(digest(data), data)
        entry = entries[id(value)]
        if not chunks or len(entry.value) > _LARGE or xxh3_64_intdigest(name.encode()) % _CHUNK == 0:
            chunks.append(chunk := {})
        chunk[name] = entry
    parts = {digest(data): data for data in (names, *map(encode, chunks))}
    for key, data in parts.items():
        keep(key, data)
    first = tuple(next(iter(chunk)) for chunk in chunks)
    return Items(Outline(digest(names), first, tuple(parts)[1:]), load, chunks)


def load_items(data: bytes, load: Load) -> Items:
    """The items of a table by its encoded value."""
    outline = decode(_outline_decoder, data)
    if len(outline.first) != len(outline.chunks):
        raise StoreDamaged("a part of a table is missing")
    return Items(outline, load)
