"""Sets of inputs as unions of smaller ones: equal to the sets, and short."""

from __future__ import annotations

import random

from gradmill.graphs.unions import FEW, Needs, Unions


def expanded(unions: Unions, inputs: int, places: Needs) -> set[int]:
    """The inputs that some places stand for."""
    members: set[int] = set()
    for place in places:
        members |= {place} if place < inputs else expanded(unions, inputs, unions.parts[place - inputs])
    return members


def test_a_small_set_names_its_inputs() -> None:
    unions = Unions(9, [tuple(range(FEW))])
    assert (unions.places(tuple(range(FEW))), unions.parts) == (tuple(range(FEW)), [])


def test_a_set_joins_the_largest_known_subset_and_the_rest() -> None:
    unions = Unions(20, [tuple(range(5)), tuple(range(8)), (*range(8), 12)])
    assert unions.parts == [(0, 1, 2, 3, 4), (5, 6, 7, 20), (12, 21)]
    assert unions.places(tuple(range(8))) == (21,)


def test_disjoint_branches_are_joined_by_their_sets() -> None:
    one, other = tuple(range(0, 40, 2)), tuple(range(1, 40, 2))
    unions = Unions(40, [one, other, tuple(range(40))])
    assert unions.parts[-1] == (40, 41)


def test_random_sets_are_the_unions_of_their_parts() -> None:
    rng = random.Random(8)
    sets: list[Needs] = [tuple(sorted(rng.sample(range(70), rng.randint(0, 12)))) for _ in range(60)]
    sets += [tuple(sorted({*rng.choice(sets), *rng.choice(sets)})) for _ in range(200)]
    unions = Unions(70, sets)
    assert all(expanded(unions, 70, unions.places(each)) == set(each) for each in sets)
    assert all(part < 70 + i for i, parts in enumerate(unions.parts) for part in parts)


def test_the_parts_of_a_chain_of_sets_are_bounded() -> None:
    """As in a network: the value after each layer depends on all parameters so far."""
    unions = Unions(400, [tuple(range(end)) for end in range(2, 400, 2)])
    assert max(map(len, unions.parts)) <= FEW + 2
