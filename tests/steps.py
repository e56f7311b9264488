"""Work counted in calls: what grows faster than its input makes more of them for a text that is twice as long."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls_of(work: Callable[[], object]) -> int:
    """How many functions some work calls, those written in C included."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def assert_linear(work: Callable[[str], object], part: str, length: int = 2_000) -> None:
    """What is done with a part that repeats grows with its length; a text of twenty thousand letters ends, too."""
    once, twice = (calls_of(lambda size=size: work(part * (size // len(part)))) for size in (length, 2 * length))
    assert twice < 2.5 * once + 1_000, (once, twice)
    work(part * (20_000 // len(part)))
