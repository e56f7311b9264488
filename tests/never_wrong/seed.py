"""The seed of everything random in a test run, and how much of it there is.

GRADMILL_SEED sets it. Without it every state of the code has its own: one commit has one verdict, and each that
follows tries something else. GRADMILL_MORE=N takes N times as many samples in the tests that take some,
`tests/never_wrong/test_edits.py` and `tests/never_wrong/test_chains.py`: by default they are few.
"""

from __future__ import annotations

import os
from random import Random
from zlib import crc32

from project import ROOT


def _of_the_code() -> int:
    modules = sorted(path for folder in ("pipeline", "tests") for path in (ROOT / folder).rglob("*.py"))
    return crc32(b"".join(path.read_bytes() for path in modules)) % 1_000_000


SEED = int(os.environ.get("GRADMILL_SEED") or _of_the_code())
MORE = int(os.environ.get("GRADMILL_MORE") or 1)
REPEAT = f"repeat with GRADMILL_SEED={SEED}" + (f" GRADMILL_MORE={MORE}" if MORE > 1 else "")


def seeded(seed: int | str) -> Random:
    """A source of repeatable choices."""
    return Random(seed)
