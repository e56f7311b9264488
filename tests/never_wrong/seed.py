"""The seed of everything random in a test run. GRADMILL_SEED repeats a run; without it every run has its own."""

from __future__ import annotations

import os
import time
from random import Random

SEED = int(os.environ.get("GRADMILL_SEED") or time.time_ns() // 1000 % 1_000_000)
REPEAT = f"repeat with GRADMILL_SEED={SEED}"


def seeded(seed: int | str) -> Random:
    """A source of repeatable choices."""
    return Random(seed)
