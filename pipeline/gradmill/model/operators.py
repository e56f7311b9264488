"""Selected operators, as the file of `operators=` lists them."""

from msgspec import Struct

OVERLOADS = ".*"  # ends the pattern of all overloads of an operator


class ListedOperator(Struct, frozen=True, array_like=True):
    """An operator in the file."""

    name: str  # `aten::add.Tensor`
    pattern: str  # the functions that it stands for: `aten::add.Tensor`; `aten::add.*` for all overloads
    trained: bool  # whether it is used for training: upstream generates nothing for the others
    line: int
    column: int


def patterns_of(name: str) -> set[str]:
    """The patterns that a function fits, by its name with namespace and overload."""
    return {name, name.partition(".")[0] + OVERLOADS}
