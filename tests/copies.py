"""Copies of a built project, as if each had been built where it is: building takes many times as long."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from msgspec.structs import replace
from project import Project

from gradmill.io.files import Stat, stat_of
from gradmill.query.memo import digest
from gradmill.session import record
from gradmill.session.output.outputs import Written
from gradmill.session.paths import paths_of
from gradmill.session.settings.config import read_config

TICK = 0.012  # seconds after which a rewritten file has another modification time


def copy_of(built: Project, folder: Path) -> Project:
    """A copy of a project. What its cache says of paths, inodes and times is put right."""
    assert not list(folder.glob("*"))
    shutil.copytree(built.folder, folder, dirs_exist_ok=True)
    project = Project.at(folder)

    def moved(path: str) -> str:
        return path.replace(str(built.folder), str(folder))

    depfile = project.rows.parent / "manifest.json.d"
    depfile.write_text(moved(depfile.read_text()))
    (kept,) = project.rows.parent.glob("last-*")
    last = record.load(str(kept))
    assert last is not None
    kept.unlink()
    outputs = {moved(path): digest(Path(moved(path)).read_bytes()) for path in last.outputs}
    values = project.values
    there = replace(
        last,
        stats={moved(path): stat_of(moved(path)) for path in last.stats},
        outputs={path: Written(_stat(path), result) for path, result in outputs.items()},
    )
    record.save(paths_of(read_config(values)).record, there)
    time.sleep(TICK)
    return project


def _stat(path: str) -> Stat:
    stat = stat_of(path)
    assert stat is not None
    return stat
