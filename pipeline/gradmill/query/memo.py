"""Memos: what is remembered of one call, under which number, and as which bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from gradmill.query.query import Parts, Query, Table

_encoder = msgspec.msgpack.Encoder()
_sorting = msgspec.msgpack.Encoder(order="deterministic")
_T = TypeVar("_T")

Row = int  # the number of a call, from its name; odd for a table's
Item = str | Literal[True] | None  # of a row: None for its value, NAMES for a table's names, else one of its items
Name = tuple[Any, ...]  # of a call: the query's name, then the key

NAMES: Final = True
INPUT, ITEM = "input", "item"  # the first words of the names of inputs, and of items: (ITEM, *table's name, item)
MISSING = bytes(16)  # the digest of an absent item, or an absent input
NO_DIAGNOSTICS: Final = Raw(b"\x90")  # an empty list
SMALL = 96  # bytes; a value of at most so many stands in its memo

_ROWS = 1 << 64


class Dep(Struct, frozen=True, gc=False, array_like=True):
    """One dependency."""

    row: Row
    item: Item
    digest: bytes  # of what was read; MISSING for an absent item


class Memo(Struct, frozen=True, gc=False, array_like=True):
    """One remembered call."""

    name: tuple[str | int | None, ...]
    digest: bytes  # of the encoded value, which is stored under it
    deps: tuple[Dep, ...]  # in the order of reading
    diagnostics: Raw  # its own, as a list: thousands of them are decoded only if they are reported
    height: int  # above its highest dependency; an input has 0
    value: bytes | None = None  # encoded; b"" if it is in the store by its digest, None if it is not kept


class Input:
    """The bytes of an input in one revision, None if there is no such input, and their digest."""

    __slots__ = ("data", "digest")

    def __init__(self, data: bytes | None) -> None:
        self.data = data
        self.digest = MISSING if data is None else digest(data)


class StoreDamaged(Exception):
    """A store does not return what was written to it. The revision starts over on an empty store."""


def encode(value: object) -> bytes:
    """MessagePack; equal values that were built the same way give equal bytes."""
    return _encoder.encode(value)


def encode_value(query: Query[Any, Any], value: Any) -> bytes:
    """The value of a query as bytes; only the digest if it is large and not kept."""
    if not query.keep and isinstance(value, (bytes, Parts)):
        return value if isinstance(value, bytes) else value.digest
    return (_sorting if query.has_sets else _encoder).encode(value)


def decode(decoder: msgspec.msgpack.Decoder[_T], data: bytes) -> _T:
    """What was encoded; StoreDamaged if the bytes are not of that type."""
    try:
        return decoder.decode(data)
    except (ValueError, RecursionError):
        raise StoreDamaged("an entry is of another format") from None


def digest(data: bytes) -> bytes:
    """The 128-bit XXH3 of `data`, 16 bytes. It notices damage and edits; it is no protection against an attacker."""
    return xxh3_128_digest(data)


def digest_of(*parts: object) -> bytes:
    """The digest of several values; no boundary between them can move."""
    return xxh3_128_digest(_encoder.encode(parts))


def row_of(name: Name, *, table: bool = False) -> Row:
    """The number of a call or an input. Its lowest bit says whether the query is a table."""
    number = xxh3_64_intdigest(_encoder.encode(name)) & ~1 | table
    return number - _ROWS if number >> 63 else number


def row_of_query(query: Query[Any, Any], args: tuple[Any, ...]) -> Row:
    """The number of the row of a query's call: a hash of its name and arguments, odd for a table."""
    return row_of((query.name, *args), table=isinstance(query, Table))


def is_table(row: Row) -> bool:
    """Whether a row is that of a table, whose items are read one by one."""
    return bool(row & 1)


Find = Callable[[str], Query[Any, Any] | None]  # a query by its name
