"""What the forward saves for the backward: only what formulas use, each value once.

Inputs and outputs are saved as SavedVariables, so that autograd detects a write by the caller before the backward; the
tensors of a list are saved with their versions. A view of these is recomputed. An input that the graph itself writes to
is saved as a copy, and so is a value that an output may be at run time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from gradmill.extensions.graphs.model import Item, Ref, Value
from gradmill.extensions.graphs.passes.functionalize.program import Apply, tensors_of
from gradmill.extensions.graphs.passes.gradients import MetadataKind
from gradmill.extensions.graphs.passes.keep.aliases import Aliases, label
from gradmill.extensions.graphs.passes.needs import NONE, Needs, Rows
from gradmill.model.autograd import SavedAttribute

Used = dict[str, tuple[Ref | Item, Needs]]  # values by their labels, with the inputs whose gradients use them


class Uses:
    """Collects what the formulas of a backward use, each with the inputs whose gradients use it."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.values: Used = {}
        self.attributes: dict[str, tuple[SavedAttribute, int, Needs]] = {}  # of arguments: `self.sizes()`
        self.metadata: dict[str, tuple[MetadataKind, Value, Needs]] = {}

    def add(self, value: Value, needs: Needs) -> None:
        """Adds a value, a tensor or a number, or those of a list."""
        for each in tensors_of(value):
            known = self.values[label(each)][1] if label(each) in self.values else NONE
            self.values[label(each)] = (each, self._rows.either(needs, known))

    def keep_metadata(self, kind: MetadataKind, value: Value, needs: Needs) -> str:
        """Adds metadata of a value; returns its member name."""
        name = f"{kind}_{label(value)}"
        known = self.metadata[name][2] if name in self.metadata else NONE
        self.metadata[name] = (kind, value, self._rows.either(needs, known))
        return name


class Saved(NamedTuple):
    """What the forward saves, and the calls that the backward makes again, by the names of their first results.

    Each has the inputs whose gradients use it; a call that is made in any case has NONE.
    """

    values: Used
    remade: dict[str, tuple[Apply, Needs]]
    numbers: list[str]


def saved(uses: Iterable[tuple[Value, Needs]], aliases: Aliases, rows: Rows) -> Saved:
    """What is saved so that formulas can use values. Views of what the caller may write to are made again."""
    found, remade, numbers = Uses(rows), dict[str, tuple[Apply, Needs]](), dict[str, None]()
    left = [*uses][::-1]
    while left:
        value, needs = left.pop()
        for each in tensors_of(value):
            step = aliases.makers.get(each.name)
            if each.name in aliases.numbers:
                numbers[each.name] = None
            elif step is not None and step.view and aliases.visible(each):
                remade[each.name] = (step, NONE)
                left += [(argument, needs) for argument in reversed(step.arguments.values())]
            elif step is not None and each.name in aliases.constants:
                remade[each.name] = (step, NONE)
            else:
                found.add(each, needs)
    return Saved(found.values, remade, [*numbers])


IN_LIKE = {"scalar_type()": "dtype", "sym_sizes()": "sym_sizes()"}  # attributes of a tensor, and members of a Like


def in_like(expression: str, arguments: Mapping[str, Value], metadata: Container[str]) -> str | None:
    """The member of the saved sizes and dtype of an argument that an expression is; None if they are not saved."""
    name, _, method = expression.partition(".")
    value = arguments.get(name)
    if method not in IN_LIKE or not isinstance(value, (Ref, Item)) or f"like_{label(value)}" not in metadata:
        return None
    return f"like_{label(value)}.{IN_LIKE[method]}"
