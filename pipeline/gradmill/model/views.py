"""Views with their variants, and functions that are printed together, as data."""

from msgspec import Struct

from gradmill.model.native import NativeFunction


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


VARIANTS, VIEW, UNGROUPED = "variants ", "view ", "alone "  # the name of a group is one, and that of its first function
KINDS = (VARIANTS, VIEW, UNGROUPED)


class FunctionGroup(Struct, frozen=True, gc=False, array_like=True):
    """The variants of an operator, or a view with its variants, or a function that is in neither. The others are
    missing."""

    variants: tuple[NativeFunction, ...]  # the functional, the out, the in-place and the mutable one
    view: ViewGroup | None
    alone: NativeFunction | None
    selective: bool  # whether a list selects operators
