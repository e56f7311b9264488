"""Writes whose other arguments are in the same memory: eager's kernels refuse some of these, by how they overlap.

The functional variant would compute something where eager has an error. So the graph makes the same two views of the
storage's first value, which lies in memory as in eager, and runs eager's check on them.
"""

from __future__ import annotations

from gradmill.extensions.graphs.functional.program import Overlap, tensors_of
from gradmill.extensions.graphs.functional.state import State
from gradmill.extensions.graphs.functional.storage import Alias
from gradmill.extensions.graphs.model import Call, Item, Ref
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.traits import OVERLAPS


def check_overlaps(state: State, call: Call, operator: Operator, written: str) -> None:
    """Adds eager's check of the other arguments of a write that are in the memory of the argument `written`."""
    into = state.handle(call.arguments[written]).alias
    for name, every in OVERLAPS.get(operator.name, {}).items():
        for value in tensors_of(call.arguments[name]) if name != written else ():
            alias = _alias(state, value)
            if alias is not None and alias.storage is into.storage and (every or alias is not into):
                state.steps.append(_overlap(into, alias, call, every=every))


def _alias(state: State, value: Ref | Item) -> Alias | None:
    """The tensor of a value; None for a number or a whole list."""
    if value.name in state.scalars or (isinstance(value, Ref) and value.name in state.lists):
        return None
    alias = state.handle(value).alias
    return None if alias.listed else alias


def _overlap(written: Alias, read: Alias, call: Call, *, every: bool) -> Overlap:
    """The check. Both are made from the last tensor, not a list, that both are views of: it may be a copy."""
    one, other = written.chain, read.chain
    common = 0
    for links in range(min(len(one), len(other))):
        above = _above(written, links)
        if above is not _above(read, links):
            break
        common = common if above.listed else links + 1
    return Overlap(written.storage.first, one[:common], one[common:], other[common:], every, call.assigns, call.place)


def _above(alias: Alias, links: int) -> Alias:
    """The tensor on the way to `alias`, one link after the first `links` of its chain."""
    while alias.parent is not None and alias.depth > links + 1:
        alias = alias.parent
    return alias
