"""A set of random functions; more of them: `python -m tests.campaigns functions`."""

from __future__ import annotations

from pathlib import Path

import pytest
from never_wrong.aten_sets import JudgeOfAten
from never_wrong.campaign import wrong
from never_wrong.oracle import Oracle

from aten.random_sets import trials


@pytest.mark.slow
def test_random_functions_come_to_torchgens_verdict_and_files(tmp_path: Path, torchgen: Oracle) -> None:
    assert wrong(trials(JudgeOfAten(tmp_path, torchgen), 0, 20)) == []
