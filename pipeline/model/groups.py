"""Functions that are printed together as data."""

from msgspec import Struct

from pipeline.model.native import NativeFunction
from pipeline.model.views import ViewGroup

VARIANTS, VIEW, ALONE = "variants ", "view ", "alone "  # the name of a group is one, and that of its first function
KINDS = (VARIANTS, VIEW, ALONE)


class Together(Struct, frozen=True, gc=False, array_like=True):
    """The variants of an operator, or a view with its variants, or a function that is in neither. The others are
    missing."""

    variants: tuple[NativeFunction, ...]  # the functional, the out, the in-place and the mutable one
    view: ViewGroup | None
    alone: NativeFunction | None
    selective: bool  # whether a list selects operators
