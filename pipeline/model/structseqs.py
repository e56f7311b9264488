"""The classes of named results that Python has, as data."""

from msgspec import Struct


class Structseq(Struct, frozen=True, gc=False, array_like=True):
    """A class of named results."""

    name: str  # of the C++ function
    fields: tuple[str, ...]  # "" for a result without a name, which upstream refuses
    place: int = 0  # among the classes of the function's overloads
