"""What an expression stands for while a graph is read: a value of a known type, several, or nothing that counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pipeline.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from pipeline.graphs.scalars import Number


class Known(NamedTuple):
    """A value and its type in the schema language."""

    value: Value
    type: str  # `Tensor`, `Tensor?`, `Tensor[]`, `int`, `int[]`, `float`, `bool`, `str`, `None`, `ScalarType` …


class Several(NamedTuple):
    """A tuple or a list of Python's; of an operator's results, with their names."""

    items: tuple[Thing, ...]
    names: tuple[str, ...] = ()
    is_list: bool = False


class Wrong(NamedTuple):
    """What a mistake left behind: whatever is done with it is no mistake of its own."""


WRONG = Wrong()

Thing = Known | Several | Wrong

NONE = Known(Nothing(), "None")


def of_number(value: Number) -> Known:
    """A constant number."""
    if isinstance(value, bool):
        return Known(Bool(value), "bool")
    return Known(Int(value), "int") if isinstance(value, int) else Known(Float(value), "float")


def number_in(thing: Thing) -> Number | None:
    """The number that a constant is, None of all else."""
    if isinstance(thing, Known) and isinstance(thing.value, (Int, Float, Bool)):
        return thing.value.value
    return None


def text_in(thing: Thing) -> str | None:
    """The text that a constant is, None of all else."""
    return thing.value.value if isinstance(thing, Known) and isinstance(thing.value, Str) else None


def is_tensor(thing: Thing) -> bool:
    """Whether it is a tensor, and not perhaps None."""
    return isinstance(thing, Known) and thing.type == "Tensor"


def is_number(thing: Thing) -> bool:
    """Whether it is a number, known or not."""
    return isinstance(thing, Known) and thing.type in ("int", "float", "bool")


def is_operand(thing: Thing) -> bool:
    """Whether it is a number to calculate with tensors by: one of which it is not said whether it is whole, too."""
    return is_number(thing) or (isinstance(thing, Known) and thing.type == "Scalar")


def any_wrong(things: Iterable[Thing]) -> bool:
    """Whether a mistake has been made in one of them already."""
    return any(isinstance(thing, Wrong) or (isinstance(thing, Several) and any_wrong(thing.items)) for thing in things)


def items_of(thing: Thing, count: int) -> list[Thing] | None:
    """The first `count` items, as far as they are there; None of what has no items."""
    if isinstance(thing, Several):
        return list(thing.items[:count])
    if isinstance(thing, Known) and thing.type.endswith("[]"):
        return [item_of(thing, index) for index in range(count)]
    return None


def item_of(thing: Known, index: int) -> Known:
    """An item of a list whose length is not known."""
    inner = thing.type.removesuffix("[]")
    if isinstance(thing.value, Ref):
        return Known(Item(thing.value.name, index), inner)
    assert isinstance(thing.value, Many)
    return Known(thing.value.values[index], inner)


def described(thing: Thing) -> str:
    """What it is, for a message."""
    if isinstance(thing, Several):
        inner = ", ".join(map(described, thing.items))
        return f"[{inner}]" if thing.is_list else f"({inner})"
    if isinstance(thing, Wrong):
        return "?"
    if isinstance(thing.value, Constant):
        return thing.value.name
    return thing.type


def index_in(thing: Thing) -> int | None:
    """The whole number that a constant is, None of all else."""
    return thing.value.value if isinstance(thing, Known) and isinstance(thing.value, Int) else None
