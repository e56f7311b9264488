"""Views with their variants, as data."""

from msgspec import Struct

from pipeline.model.native import NativeFunction


class ViewNames(Struct, frozen=True, gc=False, array_like=True):
    """The functions of a view group, by identity; "" for a missing one."""

    view: str
    inplace: str
    copy: str
    first: str  # of all functions with the view's signature, in their order


class ViewGroup(Struct, frozen=True, gc=False, array_like=True):
    """A view, its in-place variant, and its copy."""

    view: NativeFunction
    inplace: NativeFunction | None
    copy: NativeFunction | None
    replayed: bool  # whether it has ViewMetas: it is not composed of other functions, and no list selects operators
