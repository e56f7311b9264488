"""Selected operators: byte for byte what the release's own gen_autograd writes for the same list.

All releases: python -m tests.campaigns selected
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gradmill.releases import KNOWN
from releases import Source, selected
from releases.selected import CASES, Case
from releases.test_all_releases import source_of


@pytest.mark.slow
def test_the_files_equal_those_of_torchgen_with_the_same_list(torch_specs: Path, tmp_path: Path) -> None:
    cases = [Case(20, legacy=False, autograd=True), Case(1, legacy=True, autograd=False)]
    source = Source("torch", torch_specs.parent.parent)
    assert selected.compare(source, tmp_path, cases) == {case: [] for case in cases}


@pytest.mark.slow(24)
def test_all_lists_of_the_newest_release(tmp_path: Path) -> None:
    source = source_of(KNOWN[-1], tmp_path / "unpacked")
    assert selected.compare(source, tmp_path) == {case: [] for case in CASES}
