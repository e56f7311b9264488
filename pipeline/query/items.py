"""The items of a table, in chunks: one is read, compared and stored without the others.

An item is in the chunk that its name says, so that it stays there when others come and go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from pipeline.query.row import MISSING, NAMES, digest, encode

CHUNK = 48  # items, or fewer


class Item(Struct, frozen=True, gc=False, array_like=True):
    """An item of a table: its encoded value, and the digest of that."""

    digest: bytes
    value: bytes


class Outline(Struct, frozen=True, gc=False, array_like=True):
    """The encoded value of a table."""

    names: bytes  # the digest of the names of all items, in order
    chunks: tuple[bytes, ...]  # of items by name: the digest of each


Chunk = dict[str, Item]
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
        count = len(self.outline.chunks)
        place = _place(name, count) if count > 1 else 0
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
        return _names_decoder.decode(self._load(self.outline.names))

    def all(self) -> Iterator[tuple[str, Item]]:
        """All items, in order."""
        for name in self.names():
            found = self.get(name)
            assert found is not None
            yield name, found

    def changed(self, after: "Items") -> dict[str, bytes]:
        """The items that are others in `after`, the names of all among them: what each gives there."""
        ours, theirs = self.outline.chunks, after.outline.chunks
        pairs = enumerate(zip(ours, theirs)) if len(ours) == len(theirs) else None
        places = None if pairs is None else [place for place, (one, other) in pairs if one != other]
        old, new = self._some(places), after._some(places)
        found = {name: MISSING for name in old if name not in new}
        found |= {name: item.digest for name, item in new.items() if name not in old or old[name].digest != item.digest}
        return found if self.outline.names == after.outline.names else {NAMES: after.outline.names, **found}

    def parts(self) -> Iterator[bytes]:
        """The digests that all of it is stored under."""
        yield self.outline.names
        yield from self.outline.chunks

    def drop(self) -> None:
        """Lets go of what was decoded."""
        self._chunks = {}

    def _some(self, places: list[int] | None) -> Chunk:
        """All items of some chunks; of all."""
        found: Chunk = {}
        for place in range(len(self.outline.chunks)) if places is None else places:
            found |= self._chunk(place)
        return found

    def _chunk(self, place: int) -> Chunk:
        found = self._chunks.get(place)
        if found is None and not self.outline.chunks:
            found = self._chunks[place] = {}
        elif found is None:
            found = self._chunks[place] = _chunk_decoder.decode(self._load(self.outline.chunks[place]))
        return found


def made_items(values: Mapping[str, object], keep: Keep, load: Load) -> Items:
    """The items of a table that gave `values`, all of which `keep` is given."""
    count = 1 << max(0, (len(values) - 1) // CHUNK).bit_length() if values else 0
    chunks: list[Chunk] = [{} for _ in range(count)]
    for name, value in values.items():
        raw = encode(value)
        chunks[_place(name, count) if count > 1 else 0][name] = Item(digest(raw), raw)
    raws = [encode(list(values)), *map(encode, chunks)]
    digests = [digest(raw) for raw in raws]
    for found, raw in zip(digests, raws):
        keep(found, raw)
    return Items(Outline(digests[0], tuple(digests[1:])), load, chunks)


def outline_of(raw: bytes) -> Outline | None:
    """The outline that a table's encoded value is; None where it is from before the query was a table."""
    try:
        return _outline_decoder.decode(raw)
    except msgspec.MsgspecError:
        return None


def _place(name: str, count: int) -> int:
    """The chunk of a name, of so many: a power of two."""
    return xxh3_64_intdigest(name.encode()) & (count - 1)
