"""What the registration of a schema depends on besides its function."""

from msgspec import Struct

from pipeline.model.native import NativeFunction


class TagSet(Struct, frozen=True, gc=False, array_like=True):
    """The tags of some functions of a namespace, which share a variable in C++."""

    number: int
    first: str  # of these functions, by identity: it declares the variable


class SchemaRegistration(Struct, frozen=True, gc=False, array_like=True):
    """A function, and how its schema is registered."""

    function: NativeFunction
    selected: bool  # whether it is registered
    number: int | None  # of its tags; None if it has none
    declares: bool  # whether it is the first function with its tags
    begins: bool  # whether it is the first that is registered in its namespace
