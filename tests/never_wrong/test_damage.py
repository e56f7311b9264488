"""Damage that piles up in one cache, and a cache full of rubbish: noticed and mended.

Damage of each kind to each file of the cache is in `front/test_cache.py`, to generated files in
`stages/test_incremental.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project

from never_wrong.campaign import wrong
from never_wrong.damage import Trials
from never_wrong.seed import MORE, REPEAT, SEED, seeded


def test_a_cache_full_of_rubbish_is_mended(project: Project) -> None:
    before = project.build().files()
    random = seeded(SEED)
    for path in project.cached():
        if path.name != "set":  # which shows that the folder is gradmill's
            path.write_bytes(random.randbytes(random.randrange(2000)))
    run = project.run()
    assert run.status == 0
    assert (
        run.stderr == f"{project.rows}: the store is damaged (file is not a database): it is discarded, and rebuilt\n"
    )
    assert project.files() == before
    assert project.run().ran == []


@pytest.mark.alternates(4)
@pytest.mark.parametrize("count", [3 * MORE, pytest.param(40 * MORE, marks=pytest.mark.slow)])
def test_damages_that_pile_up_are_mended(tmp_path: Path, count: int) -> None:
    """The whole is `python -m tests.never_wrong.damage`."""
    assert wrong(Trials(tmp_path, seeded(SEED)).trials(), count) == [], REPEAT
