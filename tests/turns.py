"""Slow tests that take turns: the mark `alternates(n, seconds, together=…)`.

Each state of the code runs one of n groups of them, and the seed decides which. All states take about as long. Tests
with the same `together` share what they build, so they run in the same states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import lcm
from pathlib import Path
from typing import NamedTuple

import pytest
from never_wrong.seed import MORE, SEED

TURNS = "one in"  # begins the reason of a skipped test
SHORT = 8  # seconds


class Turn(NamedTuple):
    """What the mark of a test says."""

    n: int
    name: str
    seconds: float  # of CPU, of all tests of that name


def turn_of(item: pytest.Item) -> Turn | None:
    """None of a test that is not marked, or not slow."""
    mark = item.get_closest_marker("alternates")
    if mark is None or item.get_closest_marker("slow") is None:
        return None
    n, *seconds = mark.args
    return Turn(n, mark.kwargs.get("together", item.nodeid), *seconds or [1])


def groups_of(turns: Collection[Turn]) -> dict[Turn, int]:
    """In which of its n groups each is: the longest first, into the one whose states have the least to do so far."""
    load = [0.0] * lcm(*(turn.n for turn in turns))  # by the seed
    groups = {}
    for turn in sorted(turns, key=lambda turn: (-turn.seconds, turn.n, turn.name)):
        group = min(range(turn.n), key=lambda number: max(load[number :: turn.n]))
        groups[turn] = group
        load[group :: turn.n] = [seconds + turn.seconds for seconds in load[group :: turn.n]]
    return groups


def skip_alternates(items: list[pytest.Item]) -> Counter[Path]:
    """Marks the tests whose turn it is not. The seconds of those that run, by file; not of files that are short."""
    turns = {item: turn for item in items if (turn := turn_of(item))}
    groups = groups_of(set(turns.values()))
    running: dict[tuple[Path, str], float] = {}
    for item, turn in turns.items():
        if (groups[turn] - SEED) % turn.n >= MORE:
            reason = f"{TURNS} {turn.n} runs, another this time: GRADMILL_MORE={turn.n} runs all"
            item.add_marker(pytest.mark.skip(reason))
        else:
            running[item.path, turn.name] = turn.seconds
    taken: Counter[Path] = Counter()
    for (path, _), seconds in running.items():
        taken[path] += seconds
    return Counter({path: seconds for path, seconds in taken.items() if seconds > SHORT})
