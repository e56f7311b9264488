"""Damage that piles up in one cache: noticed and mended.

Damage of each kind to each file of the cache is in `front/test_cache.py`, to generated files in
`stages/test_incremental.py`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from never_wrong.campaign import wrong
from never_wrong.damage import Trials


@pytest.mark.slow(10)
def test_damages_that_pile_up_are_mended(tmp_path: Path) -> None:
    """More of them are `python -m tests.campaigns damage`."""
    assert wrong(Trials(tmp_path, Random(0)).trials(), 3) == []
