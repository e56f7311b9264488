"""What the forward saves for the backward: only what formulas use, each value once.

Inputs and outputs are saved as SavedVariables, so that autograd detects a write by the caller before the backward; the
tensors of a list are saved with their versions. A view of these is recomputed. An input that the graph itself writes to
is saved as a copy, and so is a value that an output may be at run time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from gradmill.graphs.backward.program import Attribute, Mark, Number, Remade, Tensor
from gradmill.graphs.functional.program import Apply, Choose, Functional, Scatter, names_in, values_of
from gradmill.graphs.functional.program import Number as NumberStep
from gradmill.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Value
from gradmill.graphs.operator import Operator
from gradmill.graphs.traits import FACTORIES
from gradmill.model.autograd import SavedAttribute


class Saver:
    """Collects the saved values, each with the inputs whose gradients use it."""

    def __init__(
        self,
        program: Functional,
        operators: Mapping[str, Operator],
        inputs: Mapping[str, str],
        changed: Iterable[str],
        shown: Iterable[str],
    ) -> None:
        self._types = dict(inputs)
        self._changed = set(changed)
        self._shown = set(shown)
        self._makers = {r.name: step for step in program.steps if isinstance(step, Apply) for r in step.results}
        self._constants = {name for name, step in self._makers.items() if _constant(step, operators[step.identity])}
        self._sources = sources_of(program)
        self._overwritten = set(changed)  # what is in the memory of inputs that the graph writes to
        for name, sources in self._sources.items():
            if not names_in(sources).isdisjoint(self._overwritten):
                self._overwritten.add(name)
        self._returned = _may_be(self._shown, program)
        computed = ((step, *each) for step in program.steps for each in values_of(step).items())
        types = [(n, t) for step, n, t in computed if isinstance(step, NumberStep) or not t.startswith("Tensor")]
        self._numbers = dict([*types, *(each for each in inputs.items() if not each[1].startswith("Tensor"))])
        self.tensors: dict[str, Tensor] = {}
        self.remade: dict[str, Remade] = {}
        self.attributes: dict[str, Attribute] = {}
        self.marks: dict[str, Mark] = {}
        self.numbers: dict[str, Number] = {}

    def save(self, value: Value, needs: frozenset[int]) -> None:
        """Saves a value that a formula uses: a tensor, a list, a number."""
        if isinstance(value, Many):
            for each in value.values:
                self.save(each, needs)
        elif isinstance(value, (Ref, Item)):
            if value.name in self._numbers:
                self.numbers[value.name] = Number(value.name, self._numbers[value.name])
            else:
                self._tensor(value, needs)

    def arguments(self, step: Apply, but: str, needs: frozenset[int]) -> None:
        """Saves a view's arguments except `but`, the viewed one."""
        for name, value in step.arguments.items():
            if name != but:
                self.save(value, needs)

    def attribute(self, name: str, attribute: SavedAttribute, step: int, needs: frozenset[int]) -> None:
        """Saves an attribute of an operator's arguments, such as `self.sizes()`."""
        self.attributes[name] = Attribute(name, attribute, step, _sorted(needs))

    def in_like(self, expression: str, arguments: Mapping[str, Value], needs: frozenset[int]) -> bool:
        """Whether the sizes and dtype of an argument, which are saved anyway, have an attribute."""
        if in_like(expression, arguments, self.marks) is None:
            return False
        self.mark("like", arguments[expression.partition(".")[0]], needs)
        return True

    def mark(self, kind: str, value: Value, needs: frozenset[int]) -> str:
        """Saves metadata of a value; returns its member name."""
        name = f"{kind}_{label(value)}"
        known = self.marks.get(name)
        joined = needs | frozenset(known.needs) if known is not None else needs
        self.marks[name] = Mark(name, kind, value, _sorted(joined))  # type: ignore[arg-type]
        return name

    def visible(self, value: Value) -> bool:
        """Whether the caller may write to the memory of a value before the backward."""
        return bool(self._visible(value))

    def _visible(self, value: Value) -> tuple[Value, ...]:
        """The inputs and outputs that a value is, or may be a view of."""
        if not isinstance(value, (Ref, Item)) or value.name in self._numbers:
            return ()
        if value.name in self._types or label(value) in self._shown or value.name in self._shown:
            return (value,)
        found = (self._visible(each) for each in self._sources.get(value.name, ()))
        return tuple(dict.fromkeys(each for values in found for each in values))

    def is_free(self, name: str) -> bool:
        """Whether nothing more is held if a value is saved: what the caller has, a number, a constant."""
        mine = name in self._types and name not in self._changed
        return mine or name in self._constants or name in self._shown or name in self._numbers

    def overwritten(self, step: Apply) -> tuple[Value, ...]:
        """The arguments of a call in the memory of inputs that the graph changes; none if it may return one itself."""
        if step.shares:
            return ()
        return tuple(each for each in _each(step) if not names_in(each).isdisjoint(self._overwritten))

    def viewed(self, step: Apply) -> dict[str, tuple[Value, ...]]:
        """The arguments of a call that are views of what the caller may write to before the backward, and of what."""
        found = {label(each): self._visible(each) for each in _each(step) if isinstance(each, (Ref, Item))}
        return {name: values for name, values in found.items() if values and name not in map(label, values)}

    def _tensor(self, value: Ref | Item, needs: frozenset[int]) -> None:
        name = label(value)
        step = self._makers.get(value.name)
        if step is not None and step.view and self.visible(value):
            for each in step.arguments.values():
                self.save(each, needs)
            self.remade[value.name] = Remade(step)
            return
        if step is not None and value.name in self._constants:
            self.remade[value.name] = Remade(step)
            return
        known = self.tensors.get(name)
        joined = needs | frozenset(known.needs) if known is not None else needs
        shares = tuple(filter(self.visible, self._sources.get(value.name, ())))
        self.tensors[name] = Tensor(value, name, self._how(value, shares), _sorted(joined), shares)  # type: ignore[arg-type]

    def _how(self, value: Ref | Item, shares: tuple[Value, ...]) -> str:
        if value.name in self._types:
            listed = isinstance(value, Ref) and self._types[value.name].endswith("]")
            return "copy" if value.name in self._changed and not listed else "list" if listed else "input"
        if value.name in self._shown:
            return "output"
        step = self._makers.get(value.name)
        listed = (
            isinstance(value, Ref)
            and step is not None
            and any(r.name == value.name and r.type.endswith("]") for r in step.results)
        )
        if value.name in self._returned and not listed:
            return "copy"
        if shares:
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


def _sorted(needs: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(needs))


IN_LIKE = {"scalar_type()": "dtype", "sym_sizes()": "sym_sizes()"}  # attributes of a tensor, and members of a Like


def in_like(expression: str, arguments: Mapping[str, Value], marks: Container[str]) -> str | None:
    """The member of the saved sizes and dtype of an argument that an expression is; None if they are not saved."""
    name, _, method = expression.partition(".")
    value = arguments.get(name)
    if method not in IN_LIKE or not isinstance(value, (Ref, Item)) or f"like_{label(value)}" not in marks:
        return None
    return f"like_{label(value)}.{IN_LIKE[method]}"


def label(value: Value) -> str:
    """The name of a value as a member. An item of a list has its own name."""
    if isinstance(value, Item):
        return f"{value.name}_at_{value.index}".replace("-", "minus_")
    assert isinstance(value, Ref)
    return value.name
