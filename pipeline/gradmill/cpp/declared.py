"""The declarations of a C++ header, as data."""

from __future__ import annotations

from msgspec import Struct

ANY = 255  # maximum number of arguments of a variadic function


class Arity(Struct, frozen=True, array_like=True):
    """The minimum and maximum number of arguments over all overloads of a function."""

    least: int
    most: int


class DeclaredOverload(Struct, frozen=True, array_like=True):
    """One overload of a function. Types are those of `gradmill.cpp.conversions`."""

    least: int  # number of required arguments
    types: tuple[str, ...]  # of all arguments
    returns: str
    view: bool = False  # whether it returns a view of its tensor


class Header(Struct, frozen=True, array_like=True):
    """The declarations of a header in its namespaces, without those inside classes and functions."""

    functions: dict[str, Arity]
    constants: list[str]
    others: list[str]  # names from using-declarations
    overloads: dict[str, list[DeclaredOverload]] = {}  # of the functions
