"""The seed of everything random in a test run, and how much of it there is.

GRADMILL_SEED repeats a run; without it every run has its own. GRADMILL_MORE=N takes N times as many samples in the
tests that take some, `tests/test_never_wrong_edits.py` and `tests/test_never_wrong_chains.py`: by default they are few.
"""

from __future__ import annotations

import os
import time
from random import Random

SEED = int(os.environ.get("GRADMILL_SEED") or time.time_ns() // 1000 % 1_000_000)
MORE = int(os.environ.get("GRADMILL_MORE") or 1)
REPEAT = f"repeat with GRADMILL_SEED={SEED}" + (f" GRADMILL_MORE={MORE}" if MORE > 1 else "")


def seeded(seed: int | str) -> Random:
    """A source of repeatable choices."""
    return Random(seed)
