"""The order in which stubs list the signatures of a name.

Upstream orders all signatures of a module at once: one follows all that take precedence over it, whatever their names.
So a signature of another name may change the order. Those with equal types are ordered as one.

torchgen: `gen_python_functions.sort_overloads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradmill.families.bindings.order import yields

Types = tuple[str, ...]


def orders_of(names: Mapping[str, Sequence[tuple[str, Types]]]) -> dict[str, list[int]]:
    """For each name, the places of its signatures in their order. `names`: the text and the types of each signature.
    Upstream has no order for signatures that wait for one another; here they come last."""
    listed = sorted(
        (text, name, place, types) for name, own in names.items() for place, (text, types) in enumerate(own)
    )
    members: dict[Types, list[int]] = {}
    for at, (*_, types) in enumerate(listed):
        members.setdefault(types, []).append(at)
    followers, waits = _precedence(members)
    order = [at for at, (*_, types) in enumerate(listed) if not waits[types]]
    for at in order:  # grows
        freed: list[int] = []
        for types in followers[listed[at][3]]:
            waits[types] -= 1
            if not waits[types]:
                freed += members[types]
        order += sorted(freed)
    found: dict[str, list[int]] = {name: [] for name in names}
    rest = [at for at, (*_, types) in enumerate(listed) if waits[types]]
    for _, name, place, _ in (listed[at] for at in (*order, *rest)):
        found[name].append(place)
    return found


def _precedence(members: Mapping[Types, Sequence[int]]) -> tuple[dict[Types, list[Types]], dict[Types, int]]:
    """Which types follow each, and for how many signatures each waits."""
    followers: dict[Types, list[Types]] = {types: [] for types in members}
    waits = dict.fromkeys(members, 0)
    for one, other in _pairs(members):
        if yields(one, other):
            followers[other].append(one)
            waits[one] += len(members[other])
    return followers, waits


def _pairs(members: Mapping[Types, Sequence[int]]) -> Iterator[tuple[Types, Types]]:
    """All pairs of equally many types."""
    by_length: dict[int, list[Types]] = {}
    for types in members:
        by_length.setdefault(len(types), []).append(types)
    for alike in by_length.values():
        yield from ((one, other) for one in alike for other in alike)
