"""A set of random functions; more of them: `python -m tests.aten.random_sets`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from never_wrong.seed import SEED

from aten.random_functions import RandomFunctions
from aten.random_sets import Workspace, differences


@pytest.mark.slow
def test_random_functions_come_to_torchgens_verdict_and_files(tmp_path: Path) -> None:
    made = RandomFunctions(Random(SEED))
    assert differences(Workspace(tmp_path), [made.variants(f"odd{i}x") for i in range(20)]) == []
