"""What a C++ header declares, as data."""

from __future__ import annotations

from msgspec import Struct

ANY = 255  # arguments of a function that takes however many


class Arity(Struct, frozen=True, array_like=True):
    """How many arguments a function takes, whichever of its overloads is meant."""

    least: int
    most: int


class Overload(Struct, frozen=True, array_like=True):
    """One way to call a function: the types of its arguments, of which so many must be given, and what it returns.
    Types are those of `pipeline.cpp.conversions`."""

    least: int
    types: tuple[str, ...]
    returns: str
    view: bool = False  # whether it returns a view of its tensor


class Header(Struct, frozen=True, array_like=True):
    """What a header declares in its namespaces, not inside of classes and functions."""

    functions: dict[str, Arity]
    constants: list[str]
    others: list[str]  # names that it takes from elsewhere
    overloads: dict[str, list[Overload]] = {}  # the functions
