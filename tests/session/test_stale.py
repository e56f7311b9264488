"""The units that a run has to print: what is made of their texts while these are in memory."""

from __future__ import annotations

from pathlib import Path

from conftest import RELEASE
from project import Project

from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.session.units import StaleUnits
from gradmill.stages.shard import block, blocks


def test_the_blocks_of_all_files_are_joined_while_units_are_printed(tmp_path: Path, small_specs: Path) -> None:
    build = Session.open(read_config(Project(tmp_path, small_specs, RELEASE).values))
    stale = StaleUnits(build)
    for unit in stale.find():
        stale.update(*unit)
    keys = [key for name in build.file_names() for key in blocks(build.db, *build.layout, name)]
    dirty = [key for key in keys if not build.db.is_clean(block, *key)]
    build.close()
    assert len(keys) > 9
    assert dirty == []
