"""Slow tests that take turns: every one has its turn, and no state of the code has much more to do than another."""

from __future__ import annotations

from math import lcm

from turns import Turn, groups_of


def test_each_state_of_the_code_takes_as_long() -> None:
    turns = [Turn(8, f"long {number}", 80 - number) for number in range(16)]
    turns += [Turn(n, f"{number} of {n}", 10) for n in (2, 4, 12) for number in range(24)]
    groups = groups_of(turns)
    assert groups.keys() == set(turns) and all(group in range(turn.n) for turn, group in groups.items())
    states = range(lcm(8, 12))
    load = [sum(turn.seconds for turn in turns if (groups[turn] - state) % turn.n == 0) for state in states]
    assert max(load) - min(load) <= 10
    assert sum(load) == sum(len(states) / turn.n * turn.seconds for turn in turns)
