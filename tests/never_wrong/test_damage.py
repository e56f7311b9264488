"""Damage that piles up in one cache: noticed and mended.

Damage of each kind to each file of the cache is in `front/test_cache.py`, to generated files in
`stages/test_incremental.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from never_wrong.campaign import wrong
from never_wrong.damage import Trials
from never_wrong.seed import MORE, REPEAT, SEED, seeded


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(3 * MORE, marks=pytest.mark.alternates(4, 10)),
        pytest.param(40 * MORE, marks=pytest.mark.alternates(16, 55)),
    ],
)
def test_damages_that_pile_up_are_mended(tmp_path: Path, count: int) -> None:
    """The whole is `python -m tests.never_wrong.damage`."""
    assert wrong(Trials(tmp_path, seeded(SEED)).trials(), count) == [], REPEAT
