"""Large sets of inputs, each as one place: a deep graph's values depend on many inputs, and each use names them all.

A set of more inputs than FEW becomes the union of smaller such sets and of single inputs. The generated code computes
each union once, after the inputs' own places, and tests its place. So text grows with the calls, not with calls times
inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from gradmill.graphs.backward.program import Part
from gradmill.graphs.plan import GraphPlan, RequiresGrad

Needs = tuple[int, ...]  # places, sorted
FEW = 4  # inputs that are named one by one


def with_unions(plan: GraphPlan) -> GraphPlan:
    """The plan with a place for each large set of inputs."""
    sets: dict[Needs, None] = {}

    def noted(needs: Needs) -> Needs:
        sets[needs] = None
        return needs

    _mapped(plan, noted)
    unions = Unions(len(plan.tensors) + len(plan.needs.gates), sets)
    return _mapped(plan, unions.places, tuple(unions.parts))


class Unions:
    """The places of sets. `parts` has the places that each union joins; the first union's place is `inputs`."""

    def __init__(self, inputs: int, sets: Iterable[Needs]) -> None:
        self.parts: list[Needs] = []
        self._places: dict[Needs, Needs] = {}
        known: list[tuple[int, int, int]] = []  # size, set as bits, place; by size
        for size, bits, needs in sorted((len(needs), _bits(needs), needs) for needs in sets if len(needs) > FEW):
            self.parts.append(_parts(bits, known))
            place = inputs + len(known)
            known.append((size, bits, place))
            self._places[needs] = (place,)

    def places(self, needs: Needs) -> Needs:
        """The places to test for a set: one, or a few."""
        return self._places.get(needs, needs)


def _parts(bits: int, known: list[tuple[int, int, int]]) -> Needs:
    """The places whose union is a set: the known subsets that have most of what is left, then single inputs."""
    parts, rest = [], bits
    while (wanted := rest.bit_count()) > FEW:
        most, best, place_of_best = FEW, 0, 0
        for size, other, place in reversed(known):
            if size <= most or most == wanted:
                break
            if other | bits == bits and (count := (other & rest).bit_count()) > most:
                most, best, place_of_best = count, other, place
        if not best:
            break
        parts.append(place_of_best)
        rest &= ~best
    return tuple(sorted([*parts, *_members(rest)]))


def _bits(needs: Needs) -> int:
    bits = bytearray(needs[-1] // 8 + 1)
    for each in needs:
        bits[each // 8] |= 1 << each % 8
    return int.from_bytes(bits, "little")


def _members(bits: int) -> Iterable[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


# ---- all sets of a plan

Each = Callable[[Needs], Needs]


def _mapped(plan: GraphPlan, each: Each, unions: tuple[Needs, ...] = ()) -> GraphPlan:
    """The plan with `each` applied to all its sets of inputs."""
    return replace(
        plan,
        backward=_inside(plan.backward, each),
        returned=_inside(plan.returned, each),
        needs=RequiresGrad(
            values={name: each(needs) for name, needs in plan.needs.values.items()},
            checks=tuple(map(each, plan.needs.checks)),
            refusals={step: each(needs) for step, needs in plan.needs.refusals.items()},
            gates={name: _inside(gate, each) for name, gate in plan.needs.gates.items()},
            unions=unions,
        ),
    )


def _inside(part: Any, each: Each) -> Any:
    """A part of a plan with `each` applied to the field `needs` of what it consists of."""
    if isinstance(part, tuple):
        return tuple(_inside(one, each) for one in part)
    if not isinstance(part, Part):
        return part
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    mapped = {name: each(value) if name == "needs" else _inside(value, each) for name, value in fields.items()}
    return replace(part, **mapped)
