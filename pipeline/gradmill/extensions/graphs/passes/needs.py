"""Which values need a gradient, as rows: each one is true if one of several others is.

Whether an input needs a gradient is known at run time only: the first places are those of inputs. A gate is a row of
one value, which the forward decides once the value is computed. A row joins places; one of FEW inputs or gates is
written out where it is used. The generated code computes all rows twice: with the inputs that require a gradient, where
it takes gates as open until they are decided, and with those that the backward has to compute.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gradmill.extensions.graphs.model import Ref

Needs = int  # a set of inputs and of gates: bit i is set for the one at place i
NONE: Needs = 0
AnyOf = tuple[int, ...]  # a plan's form of it: the value needs a gradient if one of these inputs or rows is true
FEW = 4


class Chosen(Struct, frozen=True):
    """What a value depends on if flags are all true, and otherwise."""

    flags: tuple[Ref, ...]
    then: AnyOf
    otherwise: AnyOf


class Row(Struct, frozen=True):
    """The row at a place: it is true if one of `any_of` is, and if the gate of a value is open."""

    place: int
    any_of: AnyOf
    gate: str = ""  # the value, "" if the row is no gate
    chosen: Chosen | None = None  # of a gate that flags decide; any other one is decided by its value's dtype


class Rows:
    """The rows of a graph, in an order in which each one follows from those before it."""

    def __init__(self, inputs: int) -> None:
        self.rows: list[Row] = []
        self.decided: dict[str, list[Row]] = {}  # by value: its gate, and the rows for which that is the last gate
        self._inputs = inputs
        self._places: dict[Needs, int] = {}  # of the sets that have a row
        self._gates: dict[int, str] = {}  # the values of gates, by place
        self._gated: Needs = NONE  # all gates

    def either(self, *needs: Needs) -> Needs:
        """The needs of a value that depends on what others depend on."""
        joined = NONE
        for each in needs:
            joined |= each
        if joined.bit_count() > FEW and joined not in self._places:
            row = Row(self._next, self._joining(needs))
            self._places[joined] = row.place
            self.rows.append(row)
            if joined & self._gated:
                last = (joined & self._gated).bit_length() - 1
                self.decided[self._gates[last]].append(row)
        return joined

    def gate(self, value: str, needs: Needs, chosen: Chosen | None = None) -> Needs:
        """The needs of a value: those given, if the forward does not decide that it needs no gradient."""
        place = self._next
        self._gates[place] = value
        self._gated |= 1 << place
        self.rows.append(Row(place, self.any_of(needs), value, chosen))
        self.decided[value] = self.rows[-1:]
        return 1 << place

    def any_of(self, needs: Needs) -> AnyOf:
        """The places to test: the members of a few, or the row of a set that was joined."""
        return (self._places[needs],) if needs in self._places else tuple(_members(needs))

    @property
    def _next(self) -> int:
        return self._inputs + len(self.rows)

    def _joining(self, needs: Iterable[Needs]) -> AnyOf:
        """The places that a row joins: of the largest sets, without those that have nothing new."""
        found, covered = set[int](), NONE
        for each in sorted(set(needs), key=int.bit_count, reverse=True):
            if each | covered != covered:
                covered |= each
                found.update(self.any_of(each))
        return tuple(sorted(found))


def _members(needs: Needs) -> Iterable[int]:
    while needs:
        yield (needs & -needs).bit_length() - 1
        needs &= needs - 1
