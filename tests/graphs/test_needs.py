"""Rows of the values that need a gradient: each is true for the inputs and gates of its set."""

from __future__ import annotations

import random

from gradmill.extensions.graphs.passes.needs import NONE, Needs, Rows


def of(*places: int) -> Needs:
    """The set of some places."""
    return sum(1 << place for place in places)


def expanded(rows: Rows, inputs: int, places: tuple[int, ...]) -> Needs:
    """The set of inputs and of gates that some places stand for."""
    members = NONE
    for place in places:
        row = rows.rows[place - inputs] if place >= inputs else None
        members |= 1 << place if row is None or row.gate else expanded(rows, inputs, row.any_of)
    return members


def test_random_sets_are_the_unions_of_their_parts() -> None:
    rng, rows, inputs = random.Random(8), Rows(70), 70
    sets = [of(place) for place in range(inputs)]
    for number in range(300):
        made = rows.either(*rng.sample(sets, rng.randint(1, 4)))
        sets.append(rows.gate(f"v{number}", made) if rng.random() < 0.1 else made)
    assert len(rows.rows) > 100 and len(rows.decided) > 10
    assert all(expanded(rows, inputs, rows.any_of(each)) == each for each in sets)
    assert [row.place for row in rows.rows] == [*range(inputs, inputs + len(rows.rows))]
    assert all(max(row.any_of, default=0) < row.place for row in rows.rows)


def test_a_row_is_decided_with_the_last_of_its_gates() -> None:
    rows = Rows(5)
    every = rows.either(*(of(place) for place in range(5)))
    first = rows.gate("a", every)
    one = rows.either(first, every)
    second = rows.gate("b", one)
    both = rows.either(one, second)
    assert [row.any_of for row in rows.decided["a"]] == [rows.any_of(every), (5, 6)]
    assert [row.any_of for row in rows.decided["b"]] == [rows.any_of(one), (7, 8)]
    assert rows.any_of(both) == (9,)
