"""What a C++ header declares, as data."""

from __future__ import annotations

from msgspec import Struct

ANY = 255  # arguments of a function that takes however many


class Arity(Struct, frozen=True, array_like=True):
    """How many arguments a function takes, whichever of its overloads is meant."""

    least: int
    most: int


class Header(Struct, frozen=True, array_like=True):
    """What a header declares in its namespaces, not inside of classes and functions."""

    functions: dict[str, Arity]
    constants: list[str]
    others: list[str]  # names that it takes from elsewhere
