"""Queries: pure functions of a database and a key. The database names them, calls them and decodes their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_type_hints

import msgspec
from xxhash import xxh3_128

P = ParamSpec("P")
V = TypeVar("V")


class Reader(Protocol):
    """What a query needs of the database that it is called with."""

    def get(self, query: Any, args: tuple[Any, ...]) -> Any:
        """The value of a query."""

    def item(self, table: Any, args: tuple[Any, ...], item: str) -> Any:
        """One item of a table, None if it has no such item."""


class Query(Generic[P, V]):
    """A function whose calls are memoized. A call returns its value, and records a dependency of the active query."""

    def __init__(self, function: Callable[Concatenate[Any, P], V], keep: bool = True, has_sets: bool = False) -> None:
        self.function: Callable[..., Any] = function
        self.keep = keep  # whether values are stored, or only their digests
        self.has_sets = has_sets  # whether values contain sets, whose order differs from process to process
        self.module = function.__module__
        self.name = f"{self.module}:{function.__name__}"
        self.arity = function.__code__.co_argcount - 1  # of its keys
        self.doc = (function.__doc__ or "").partition("\n")[0]

    def __call__(self, db: Reader, *args: P.args, **kwargs: P.kwargs) -> V:
        value: V = db.get(self, args)
        return value

    @cached_property
    def result(self) -> Any:
        """The type of the value: the function's annotation."""
        returned = SimpleNamespace(__annotations__={"return": self.function.__annotations__["return"]})
        return get_type_hints(returned, self.function.__globals__)["return"]

    @cached_property
    def decoder(self) -> msgspec.msgpack.Decoder[Any]:
        """Decodes a stored value."""
        return msgspec.msgpack.Decoder(self.result)


class Table(Query[P, dict[str, V]], Generic[P, V]):
    """A query that returns many items by name. Each item is read, and compared, alone."""

    def item(self, db: Reader, *args: Any) -> V | None:
        """The item whose name is the last of `args`, None if there is none."""
        item: V | None = db.item(self, args[:-1], args[-1])
        return item

    @cached_property
    def item_decoder(self) -> msgspec.msgpack.Decoder[Any]:
        """Decodes a stored item."""
        return msgspec.msgpack.Decoder(self.result.__args__[1])

    @cached_property
    def items_decoder(self) -> msgspec.msgpack.Decoder[list[Any]]:
        """Decodes stored items in a list."""
        return msgspec.msgpack.Decoder(list[self.result.__args__[1]])  # type: ignore[name-defined]


class Parts(tuple[bytes | memoryview, ...]):
    """Large bytes, in parts: the value of a query that is not kept."""

    @property
    def size(self) -> int:
        """The number of bytes."""
        return sum(map(len, self))

    @cached_property
    def digest(self) -> bytes:
        """The digest of all bytes, however they are cut."""
        hasher = xxh3_128()
        for part in self:
            hasher.update(part)
        return hasher.digest()


def query(function: Callable[Concatenate[Any, P], V]) -> Query[P, V]:
    """Makes a function a query: its value is kept, and computed again only if something that it read has changed.

    Its first parameter is the database. Its arguments and values are of types that msgspec encodes; the annotation of
    its return is the type that a stored value is decoded to."""
    return Query(function)


def unkept(function: Callable[Concatenate[Any, P], V]) -> Query[P, V]:
    """Makes a function a query whose values are large and cheap to recompute: only their digests are stored."""
    return Query(function, keep=False)


def unordered(function: Callable[Concatenate[Any, P], V]) -> Query[P, V]:
    """Makes a function whose values contain sets a query: sets are stored in sorted order."""
    return Query(function, has_sets=True)


def table(function: Callable[Concatenate[Any, P], dict[str, V]]) -> Table[P, V]:
    """Makes a function that returns a dict a table."""
    return Table(function)
