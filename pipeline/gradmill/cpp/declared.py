"""The declarations of a C++ header, as data."""

from __future__ import annotations

from msgspec import Struct

ANY = 255  # maximum number of arguments of a variadic function


class DeclaredOverload(Struct, frozen=True, array_like=True):
    """One overload of a function. Types are those of `gradmill.cpp.conversions`."""

    least: int  # number of required arguments
    types: tuple[str, ...]  # of all arguments
    returns: str
    view: bool = False  # whether it returns a view of its tensor


class Header(Struct, frozen=True, array_like=True):
    """The declarations of a header in its namespaces, without those inside classes and functions."""

    overloads: dict[str, list[DeclaredOverload]]  # of the functions
    constants: list[str]
    others: list[str]  # names from using-declarations

    @property
    def arities(self) -> dict[str, tuple[int, int]]:
        """The least and the most arguments over all overloads of each function."""
        return {
            name: (min(each.least for each in overloads), max(len(each.types) for each in overloads))
            for name, overloads in self.overloads.items()
        }
