"""Variants of one operator as data."""

from msgspec import Struct

from pipeline.model.native import NativeFunction
from pipeline.model.views import ViewGroup


class Group(Struct, frozen=True, gc=False, array_like=True):
    """The variants of an operator that has a functional and an out variant."""

    functional: NativeFunction
    out: NativeFunction
    inplace: NativeFunction | None
    mutable: NativeFunction | None

    @property
    def functions(self) -> tuple[NativeFunction, ...]:
        """All variants, in upstream's order."""
        return tuple(f for f in (self.functional, self.out, self.inplace, self.mutable) if f is not None)


class Lead(Struct, frozen=True, gc=False, array_like=True):
    """A function, and the groups that it is the first function of: where it stands, files have their text."""

    function: NativeFunction
    group: Group | None
    view: ViewGroup | None
    alone: bool  # whether the function is in no group
    selective: bool  # whether a list selects operators
