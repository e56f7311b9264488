"""Queries: pure functions of a database and a key, as values that the database can call, name and decode."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, get_type_hints

import msgspec
from xxhash import xxh3_128

if TYPE_CHECKING:
    from pipeline.query.database import Database

P = ParamSpec("P")
V = TypeVar("V")


class Query(Generic[P, V]):
    """A remembered function. Calling it gives its value, and records the read in whoever asks."""

    sets = False  # whether there are sets in its values, whose order differs from process to process

    def __init__(self, function: Callable[Concatenate[Database, P], V], *, keep: bool = True) -> None:
        self.function: Callable[..., Any] = function
        self.keep = keep  # whether its values are stored, or made again when somebody wants to see one
        self.module = function.__module__
        self.name = f"{self.module.rpartition('.')[2]}:{function.__name__}"
        self.arity = function.__code__.co_argcount - 1  # of its keys
        self.doc = (function.__doc__ or "").partition("\n")[0]

    def __call__(self, db: Database, *args: P.args, **kwargs: P.kwargs) -> V:
        value: V = db.get(self, args)
        return value

    @cached_property
    def result(self) -> Any:
        """The type of the value: what the function's annotation says."""
        return get_type_hints(self.function)["return"]

    @cached_property
    def decoder(self) -> msgspec.msgpack.Decoder[Any]:
        return msgspec.msgpack.Decoder(self.result)


class Table(Query[P, dict[str, V]], Generic[P, V]):
    """A remembered function that gives many items by name, each of which is read, and compared, alone."""

    def item(self, db: Database, *args: Any) -> V | None:
        """The item whose name is the last of `args`, None when there is none."""
        found: V | None = db.item(self, args[:-1], args[-1])
        return found

    @cached_property
    def item_decoder(self) -> msgspec.msgpack.Decoder[Any]:
        return msgspec.msgpack.Decoder(self.result.__args__[1])


class Parts(list[bytes]):
    """Large bytes, in parts: the value of a query that is not kept."""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return sum(map(len, self))

    @property
    def digest(self) -> bytes:
        """The digest of all of them."""
        found = xxh3_128()
        for part in self:
            found.update(part)
        return found.digest()


def query(function: Callable[Concatenate[Database, P], V]) -> Query[P, V]:
    """Makes a function a query."""
    return Query(function)


def unkept(function: Callable[Concatenate[Database, P], V]) -> Query[P, V]:
    """Makes a function a query whose values are large and easily made again: only their digests are stored."""
    return Query(function, keep=False)


def unordered(function: Callable[Concatenate[Database, P], V]) -> Query[P, V]:
    """Makes a function whose values have sets in them a query: they are stored in order."""
    made = Query(function)
    made.sets = True
    return made


def table(function: Callable[Concatenate[Database, P], dict[str, V]]) -> Table[P, V]:
    """Makes a function that returns a dict a table."""
    return Table(function)
