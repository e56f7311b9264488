"""Edits that pile up on one cache, and edits during a run: a few. More are `python -m tests.campaigns chains`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from never_wrong.campaign import wrong
from never_wrong.chains import Chain
from never_wrong.moments import Raced

EDITS = 2
MOMENTS = 1


def test_along_a_chain_of_edits_an_incremental_build_equals_a_clean_one(tmp_path: Path) -> None:
    assert wrong(Chain(tmp_path, Random(0)).steps(), EDITS) == []


@pytest.mark.slow(7)
@pytest.mark.parametrize(("name", "edits"), [("layers", 16), ("toy", 16), ("torch", 2)])
def test_along_a_chain_of_edits_of_another_set_too(name: str, edits: int, tmp_path: Path) -> None:
    assert wrong(Chain(tmp_path, Random(0), name).steps(), edits) == []


@pytest.mark.slow(7)
def test_an_edit_during_a_run_is_the_next_runs_business(tmp_path: Path) -> None:
    assert wrong(Raced(tmp_path, Random(0)).steps(), MOMENTS) == []
