"""Which of ATen's files an edit writes, creates and deletes: exactly those that differ.

The edits follow one another in one build of some of torch's operators; after each, all files are those of a clean
build, which are torchgen's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from importlib import metadata
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

import pytest
from never_wrong.builds import Kept, clean_build
from never_wrong.specset import of_families, read_specs
from project import Project

from aten.contract_steps import STEPS, project_of_torch
from gradmill.families.file import ANY
from gradmill.families.table import FAMILIES
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.stages.manifest import unit_facts, unit_list
from gradmill.stages.schemas import bucket_of_function
from gradmill.stages.shard import block, outline

VERSION = "2.13.0"
OPERATORS = """
    abs add embedding embedding_renorm embedding_dense_backward margin_ranking_loss log_normal _cslt_sparse_mm mm
    pairwise_distance expand view_as_real relu pdist cosine_similarity permute pixel_shuffle
""".split()
TICK = 0.02  # seconds after which a file that is written again has another time

pytestmark = pytest.mark.skipif(not metadata.version("torch").startswith(VERSION), reason=f"the edits are of {VERSION}")


class Moved(NamedTuple):
    """What an edit did to files, by name."""

    written: set[str]
    created: set[str]
    deleted: set[str]


class Stepped(NamedTuple):
    """What an edit did by the times of files, and by their bytes; and the files that a clean build has otherwise."""

    by_times: Moved
    by_bytes: Moved
    stale: list[str]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory, torch_specs: Path) -> dict[str, Stepped]:
    project = project_of_torch(tmp_path_factory.mktemp("chain"), torch_specs, metadata.version("torch"))
    for name, text in of_families(read_specs(torch_specs), OPERATORS).texts().items():
        project.path(name).write_text(text)
    folder, stepped = project.generated / "ATen", {}
    with closing(Kept(project.specs, project.folder, families="aten")) as kept:
        assert kept.run() == ""
        before = _stats(folder), kept.files()
        for title, edit in STEPS.items():
            time.sleep(TICK)
            edit(project)
            now = kept.update(), _stats(folder)
            clean = clean_build(project.specs, project.folder / "clean", families="aten")
            assert clean.accepted and now[0].accepted
            names = {*clean.files, *now[0].files}
            files = kept.files()
            stepped[title] = Stepped(
                _moved(before[0], now[1]),
                _moved(_of_aten(before[1]), _of_aten(files)),
                sorted(name for name in names if clean.files.get(name) != now[0].files.get(name)),
            )
            before = now[1], files
    return stepped


def _of_aten(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name.removeprefix("ATen/"): data for name, data in files.items() if name.startswith("ATen/")}


@pytest.mark.slow(0.5)  # by default some of such edits are in cli/test_torchgen.py
@pytest.mark.parametrize("title", STEPS)
def test_an_edit_moves_exactly_the_files_that_differ(chain: dict[str, Stepped], title: str) -> None:
    by_times, by_bytes, stale = chain[title]
    assert by_times == by_bytes
    assert stale == []
    assert (by_bytes == Moved(set(), set(), set())) == (title == "a comment")


def test_a_new_operator_lists_the_units_of_its_bucket_anew(aten: Project) -> None:
    assert _listed(aten, "first")
    assert _listed(aten, "second") == [bucket_of_function("second")]


def test_a_new_operator_runs_few_outlines_and_joins_no_headers_of_operators(aten: Project) -> None:
    def ran(name: str) -> list[tuple[str, str]]:
        with closing(_appended(aten, name)) as build:
            build.problems()
            build.save()
            return [(query, key[2]) for query, *key in build.db.ran if query in (block.name, outline.name)]

    assert (block.name, "ATen/RegisterSchema.cpp") in ran("first")
    after = ran("second")
    assert (outline.name, "ATen/Functions.h") in after  # it includes the operator's header
    assert (outline.name, "ATen/RegisterSchema.cpp") not in after
    assert [name for query, name in after if query == block.name and ANY in name] == []


def _appended(project: Project, name: str) -> Session:
    """A build after an operator is added."""
    project.append("native_functions.yaml", f"- func: {name}(Tensor self) -> Tensor\n")
    return Session.open(read_config(project.values | {"families": "aten"}), writes=True)


def _listed(project: Project, name: str) -> list[str]:
    """The buckets whose units are listed after an operator is added."""
    with closing(_appended(project, name)) as build:
        unit_list(build.db)
        listed = [name[1] for name in build.db.ran if name[0] == unit_facts.name]
        build.save()
    return [part for part in listed if part not in FAMILIES]


def _moved(before: Mapping[str, object], now: Mapping[str, object]) -> Moved:
    written = {name for name in before.keys() & now.keys() if before[name] != now[name]}
    return Moved(written, now.keys() - before.keys(), before.keys() - now.keys())


def _stats(folder: Path) -> dict[str, tuple[int, int]]:
    """The inode and the time of each file."""
    found = {}
    for path in folder.rglob("*"):
        stat = path.stat()
        if not S_ISDIR(stat.st_mode):
            found[path.relative_to(folder).as_posix()] = stat.st_ino, stat.st_mtime_ns
    return found
