"""What is saved and what is computed again, at a price: a minimum cut of the calls that lead to what formulas use.

An edge through a value costs its bytes, to save it; an edge from the source its time, to compute it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isqrt

from msgspec import Struct

from gradmill.extensions.graphs.model import Bool, Float, Item, Many, Ref, Value
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.passes.functionalize.program import Apply, Functional, tensors_of
from gradmill.extensions.graphs.passes.gradients import Block, CallBlock
from gradmill.extensions.graphs.passes.keep.aliases import Aliases
from gradmill.extensions.graphs.passes.keep.mincut import INFINITE, SINK, SOURCE, Network
from gradmill.extensions.graphs.passes.keep.saved import Saved, saved
from gradmill.extensions.graphs.passes.keep.sizes import Sizes
from gradmill.extensions.graphs.passes.needs import NONE, Needs, Rows
from gradmill.extensions.graphs.traits import AGAIN, CHEAP, TIME, Again

BYTE = 1 << 16  # the price of a byte that is held
LOWEST, HIGHEST = BYTE >> 6, BYTE << 20  # prices of time: a byte is worth up to 64 additions; it is worth none


class Choice(Struct, frozen=True):
    """What a price leads to: the values that are computed again, and the bytes that are held."""

    again: frozenset[str]
    held: int


class Budget:
    """The values that may be saved or computed again.

    `makers`: the calls of those that can be. `kept`: the values that are kept in any case, by what autograd recorded.
    `needed`: what formulas use.
    """

    def __init__(
        self,
        makers: Mapping[str, Apply],
        operators: Mapping[str, Operator],
        aliases: Aliases,
        sizes: Sizes,
        kept: Iterable[str],
        needed: Iterable[str],
    ) -> None:
        self._names = {name: operators[step.identity].name for name, step in makers.items()}
        self._aliases, self._sizes = aliases, sizes
        self._kept = {sizes.whole(name) for name in kept}
        self._needed = list(dict.fromkeys(needed))
        self._order = {name: number for number, name in enumerate(makers)}
        self._used: dict[str, list[str]] = {}  # by each value that formulas may lead to: what it is computed from
        left = [*self._needed]
        while left:
            name = left.pop()
            if name not in self._used:
                values = operands(makers[name], self._names[name]) if name in makers else []
                self._used[name] = [each.name for value in values for each in tensors_of(value)]
                left += self._used[name]

    def chosen(self, memory: float) -> frozenset[str]:
        """The values to compute again, to hold at most a fraction of the bytes, or else all that are worth it."""
        most = self._choice(HIGHEST).held
        low, high = LOWEST, HIGHEST
        best = self._choice(low)
        while best.held <= memory * most and high > low + low // 256:
            middle = isqrt(low * high)  # halfway by ratio
            choice = self._choice(middle)
            if choice.held <= memory * most:
                low, best = middle, choice
            else:
                high = middle
        return self._without_saved_views(best.again)

    def _without_saved_views(self, again: frozenset[str]) -> frozenset[str]:
        """The values without views of what is saved, which are saved as they are."""
        found: set[str] = set()
        for name in sorted(again, key=self._order.__getitem__):
            base = self._sizes.bases.get(name)
            if base is None or base in found:
                found.add(name)
        return frozenset(found)

    def _choice(self, price: int) -> Choice:
        """The cheapest choice at a price of time."""
        network = Network()
        nodes = {name: (network.node(), network.node()) for name in self._used}
        for name, (start, end) in nodes.items():
            network.edge(start, end, self._bytes(name) * BYTE)
            network.edge(SOURCE, start, self._time(name) * price)
            for used in self._used[name]:
                network.edge(nodes[used][1], start, INFINITE)
        for name in self._needed:
            network.edge(nodes[name][1], SINK, INFINITE)
        before_sink = network.cut()
        again = frozenset(name for name, (start, _) in nodes.items() if before_sink[start])
        saved = [name for name, (start, end) in nodes.items() if before_sink[end] and not before_sink[start]]
        return Choice(again, sum(map(self._bytes, saved)) + sum(map(self._sizes.of, self._kept)))

    def _bytes(self, name: str) -> int:
        """What it takes to save a value: nothing of what is held anyway; a view is not saved without its base."""
        if self._aliases.is_free(name) or name in self._kept:
            return 0
        if name in self._sizes.bases and name in self._order and not self._sizes.is_part(name):
            return INFINITE
        return self._sizes.of(name)

    def _time(self, name: str) -> int:
        """What it takes to compute a value again. Of equal calls the first are taken, which are used again last, when
        most is freed: others take up to a quarter more."""
        if name not in self._order:
            return INFINITE
        if name in self._sizes.bases:
            return 0
        time = TIME.get(self._names[name], 1)
        return self._sizes.of(name) * time * (4 * len(self._order) + self._order[name]) // (4 * len(self._order))


# ---- which calls may be made again


_REFUSED = ("nondeterministic_seeded", "nondeterministic_bitwise", "data_dependent_output", "dynamic_output_shape")


def again_of(step: Apply, name: str) -> Again | None:
    """How a call of the operator `name` is computed again by another one; None if it is not."""
    again = AGAIN.get(name)
    if again is None or (again.switch and step.arguments.get(again.switch) != Bool(True)):
        return None
    return again if isinstance(step.arguments.get("p", Float(0.0)), Float) else None


def may_be_called_again(step: Apply, operator: Operator) -> bool:
    """Whether the first result of a call may be computed again."""
    if step.view or again_of(step, operator.name) is not None:
        return True
    if step.clones or step.assigns or step.autocast or step.results[0].type != "Tensor":
        return False
    tags = operator.called.tags
    return {*tags}.isdisjoint(_REFUSED) and ("pointwise" in tags or operator.name in CHEAP)


def operands(step: Apply, name: str) -> list[Value]:
    """The values, one by one, that computing a call of the operator `name` again uses."""
    again = again_of(step, name)
    if again is not None:
        given = [step.arguments[each] for each in again.arguments]
        return given if again.result is None else [given[0], Ref(step.results[again.result].name), *given[1:]]
    values = [*step.arguments.values(), *([step.written] if step.written is not None else [])]
    return [each for value in values for each in (value.values if isinstance(value, Many) else (value,))]


def recomputed(
    known: Saved,
    program: Functional,
    operators: Mapping[str, Operator],
    blocks: Iterable[Block],
    aliases: Aliases,
    rows: Rows,
    memory: float,
) -> Saved:
    """What is saved under a budget: in place of values that are computed again, what they are computed from."""
    recorded = [block.step for block in blocks if isinstance(block, CallBlock) and block.record]
    kept = [each.name for step in recorded for value in operands(step, "") for each in tensors_of(value)]
    kept += [result.name for step in recorded for result in step.results]
    makers = _makers(program, operators, {result.name for step in recorded for result in step.results})
    needed = [value.name for value, needs in known.values.values() if needs]
    again = Budget(makers, operators, aliases, Sizes(program, operators), kept, needed).chosen(memory)
    uses: list[tuple[Value, Needs]] = [each for each in known.values.values() if each[0].name not in again]
    remade = dict(known.remade)
    left = [(value.name, needs) for value, needs in known.values.values() if value.name in again]
    while left:
        name, needs = left.pop()
        before = remade[name][1] if name in remade else NONE
        joined = rows.either(needs, before)
        if name in remade and joined == before:
            continue
        remade[name] = (makers[name], joined)
        for each in operands(makers[name], operators[makers[name].identity].name):
            if isinstance(each, (Ref, Item)) and each.name in again:
                left.append((each.name, joined))
            else:
                uses.append((each, joined))
    values, more, numbers = saved(uses, aliases, rows)
    return Saved(values, {**remade, **more}, [*dict.fromkeys([*known.numbers, *numbers])])


def _makers(program: Functional, operators: Mapping[str, Operator], recorded: set[str]) -> dict[str, Apply]:
    """The calls that may be recomputed, by their first results."""
    lists = {name for name, input_ in program.inputs.items() if input_.type.endswith("]")}
    makers = {}
    for step in program.steps:
        if not isinstance(step, Apply) or not step.results or step.identity in program.function.callees:
            continue
        name = step.results[0].name
        unwatched = any(isinstance(each, Ref) and each.name in lists for each in operands(step, ""))  # see Saved
        if name not in recorded and not unwatched and may_be_called_again(step, operators[step.identity]):
            makers[name] = step
    return makers
