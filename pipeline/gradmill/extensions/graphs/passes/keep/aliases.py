"""Whose memory each value of a graph may be in: what the caller may write to, and what the graph itself overwrites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from gradmill.extensions.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Value
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.passes.functionalize.program import (
    Apply,
    Choose,
    Functional,
    Scatter,
    names_in,
    values_of,
)
from gradmill.extensions.graphs.passes.functionalize.program import Number as NumberStep
from gradmill.extensions.graphs.passes.gradients import Block, CallBlock, Holding, Tensor
from gradmill.extensions.graphs.traits import FACTORIES


class Aliases:
    """The memory of values. `inputs`: their types by name. `shown`: the labels of values that the caller gets."""

    def __init__(
        self,
        program: Functional,
        operators: Mapping[str, Operator],
        inputs: Mapping[str, str],
        shown: Iterable[str],
    ) -> None:
        self._types = dict(inputs)
        self._changed = set(program.changed)
        self._shown = set(shown)
        self.makers = {r.name: step for step in program.steps if isinstance(step, Apply) for r in step.results}
        self.constants = {name for name, step in self.makers.items() if _constant(step, operators[step.identity])}
        self._sources = sources_of(program)
        self._overwritten = set(program.changed)  # what is in the memory of inputs that the graph writes to
        for name, sources in self._sources.items():
            if not names_in(sources).isdisjoint(self._overwritten):
                self._overwritten.add(name)
        self._returned = _may_be(self._shown, program)
        computed = [(step, *each) for step in program.steps for each in values_of(step).items()]
        every = (*inputs.items(), *((name, type_) for _, name, type_ in computed))
        self._lists = {name for name, type_ in every if type_.endswith("]")}
        types = [(n, t) for step, n, t in computed if isinstance(step, NumberStep) or not t.startswith("Tensor")]
        self.numbers = dict([*types, *(each for each in inputs.items() if not each[1].startswith("Tensor"))])

    def visible(self, value: Value) -> tuple[Value, ...]:
        """The inputs and outputs that a value is, or may be a view of: the caller may write to these."""
        if not isinstance(value, (Ref, Item)) or value.name in self.numbers:
            return ()
        if value.name in self._types or label(value) in self._shown or value.name in self._shown:
            return (value,)
        found = (self.visible(each) for each in self._sources.get(value.name, ()))
        return tuple(dict.fromkeys(each for values in found for each in values))

    def is_free(self, name: str) -> bool:
        """Whether nothing more is held if a value is saved: what the caller has, a number, a constant."""
        mine = name in self._types and name not in self._changed
        return mine or name in self.constants or name in self._shown or name in self.numbers

    def overwritten(self, step: Apply) -> tuple[Value, ...]:
        """The arguments of a call in the memory of inputs that the graph changes; none if it may return one itself."""
        if step.shares:
            return ()
        return tuple(each for each in _each(step) if not names_in(each).isdisjoint(self._overwritten))

    def viewed(self, step: Apply) -> dict[str, tuple[Value, ...]]:
        """The arguments of a call that are views of what the caller may write to before the backward, and of what."""
        found = {label(each): self.visible(each) for each in _each(step) if isinstance(each, (Ref, Item))}
        return {name: values for name, values in found.items() if values and name not in map(label, values)}

    def apart(self, value: Ref | Item) -> tuple[Value, ...]:
        """What a computed value may alias of what the caller may write to."""
        return tuple(filter(self.visible, self._sources.get(value.name, ())))

    def holding(self, value: Ref | Item) -> Holding:
        """How a value is saved."""
        listed = isinstance(value, Ref) and value.name in self._lists
        if value.name in self._types:
            return "copy" if value.name in self._changed and not listed else "list" if listed else "input"
        if value.name in self._shown:
            return "output"
        if value.name in self._returned and not listed:
            return "copy"
        if self.apart(value):
            return "apart"
        return "list" if listed else "plain"


_LITERAL = (Int, Float, Bool, Nothing, Constant)


def _each(step: Apply) -> Iterable[Value]:
    """The arguments of a step, and the values in lists."""
    for value in step.arguments.values():
        yield from value.values if isinstance(value, Many) else (value,)


def _constant(step: Apply, operator: Operator) -> bool:
    """Whether a step makes the same tensor whenever it runs, from literals of the source."""
    return operator.name in FACTORIES and all(_literal(value) for value in step.arguments.values())


def _literal(value: Value) -> bool:
    return all(map(_literal, value.values)) if isinstance(value, Many) else isinstance(value, _LITERAL)


def sources_of(program: Functional) -> dict[str, tuple[Value, ...]]:
    """For each computed tensor, the values that it may alias."""
    sources: dict[str, tuple[Value, ...]] = {}
    for step in program.steps:
        if isinstance(step, Apply):
            viewed = step.arguments.values() if step.view else step.shares
            aliased = tuple(value for value in viewed if isinstance(value, (Ref, Item)))
            sources |= {result.name: aliased for result in step.results}
        elif isinstance(step, Scatter):
            sources[step.result] = (step.base,) if step.flags else ()  # the base, if what was written is a copy of it
        elif isinstance(step, Choose):
            sources[step.result] = (step.then, step.otherwise)
    return sources


def _may_be(names: Iterable[str], program: Functional) -> set[str]:
    """The values that those of some names may be, chosen at run time: they have no names in the caller's results."""
    chosen = {step.result: (step.then, step.otherwise) for step in program.steps if isinstance(step, Choose)}
    found: set[str] = set()
    left = [*names]
    while left:
        new = {each.name for each in chosen.get(left.pop(), ()) if isinstance(each, (Ref, Item))} - found
        found |= new
        left += new
    return found


def label(value: Value) -> str:
    """The name of a value as a member. An item of a list has its own name."""
    if isinstance(value, Item):
        return f"{value.name}_at_{value.index}".replace("-", "minus_")
    assert isinstance(value, Ref)
    return value.name


# ---- saved views that are copied


def compacted(program: Functional, blocks: Iterable[Block], tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The saved tensors, with those as `part` that are copied if they are at most half of the memory that they keep."""
    memory = _memory(program)
    # What the library's autograd saves of the calls that it records is not known.
    recorded = [tuple(b.step.arguments.values()) for b in blocks if isinstance(b, CallBlock) and b.record]
    kept = Counter(
        base for values in (*recorded, *((tensor.value,) for tensor in tensors)) for base in _bases(memory, values)
    )

    def alone(tensor: Tensor) -> bool:
        value = tensor.value
        is_view = isinstance(value, Ref) and value.name not in memory.get(value.name, {value.name})
        return tensor.how == "plain" and is_view and all(kept[base] == 1 for base in _bases(memory, (value,)))

    return tuple(replace(tensor, how="part") if alone(tensor) else tensor for tensor in tensors)


def _memory(program: Functional) -> dict[str, frozenset[str]]:
    """The values whose memory each computed value may be in: its own name, if it aliases none."""
    memory: dict[str, frozenset[str]] = {}
    for name, sources in sources_of(program).items():
        memory[name] = _bases(memory, sources) or frozenset([name])
    return memory


def _bases(memory: dict[str, frozenset[str]], values: Iterable[Value]) -> frozenset[str]:
    found = (memory.get(name, frozenset([name])) for name in names_in(tuple(values)))
    return frozenset[str]().union(*found)
