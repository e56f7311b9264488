"""The same inputs give the same bytes: hash seeds, folders, cold and incremental."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RELEASE
from project import Project

from gradmill.query.memo import encode
from gradmill.store.sqlite import SqliteStore

ROWS = 500  # fewer than any build leaves
NEW = "grad * result.conj() * 2"


def _all_bytes(project: Project) -> dict[str, bytes]:
    """The generated files, the manifest, and each memo with its value."""
    return {**project.files(), "manifest.json": project.manifest(), **_rows(project)}


def _rows(project: Project) -> dict[str, bytes]:
    store = SqliteStore(str(project.rows))
    store.begin()
    memos = [memo for row, _ in store.entries() if (memo := store.memo(row)) is not None]
    values = [store.value(memo.digest) if memo.value == b"" else b"" for memo in memos]
    store.close()
    assert len(memos) > ROWS
    return {f"memo of {memo.name}": encode((memo, value)) for memo, value in zip(memos, values)}


@pytest.fixture(scope="module")
def cold(small_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a cold run in one process makes."""
    return _all_bytes(Project(tmp_path_factory.mktemp("cold"), small_specs, RELEASE).build())


@pytest.fixture(scope="module")
def cold_edited(small_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The same for an edited set."""
    project = Project(tmp_path_factory.mktemp("edited"), small_specs, RELEASE)
    project.set_formula("exp", "self", NEW)
    return _all_bytes(project.build())


@pytest.mark.parametrize("seed", (0, 1, 4294967295))
def test_no_hash_seed_changes_a_byte(tmp_path: Path, small_specs: Path, cold: dict[str, bytes], seed: int) -> None:
    project = Project(tmp_path / "elsewhere", small_specs, RELEASE)
    project.run(seed=seed).ok()
    assert _all_bytes(project) == cold


def test_an_incremental_run_makes_the_bytes_of_a_cold_one(
    project: Project, cold: dict[str, bytes], cold_edited: dict[str, bytes]
) -> None:
    assert project.run(seed=3).status == 0
    project.set_formula("exp", "self", NEW)
    assert project.run(seed=4).status == 0
    actual = _all_bytes(project)
    assert {name: actual.get(name) for name in cold_edited} == cold_edited


def test_no_hash_seed_changes_a_message(project: Project) -> None:
    """The two errors differ in nothing but the field: an anchor has them in one place."""
    path = project.path("derivatives.yaml")
    text = path.read_text()
    old = "  self: grad.unsqueeze(1) * vec.conj()\n  vec: self.t().conj().mv(grad)\n"
    assert text.count(old) == 1
    path.write_text(text.replace(old, "  self: &f grad.expand(self.sizes())\n  vec: *f\n"))
    messages = {project.run(seed=seed).stderr for seed in range(4)}
    assert len(messages) == 1
    assert "\n2 errors\n" in messages.pop()


def test_no_file_names_a_folder_of_the_machine(
    cold: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    places = [str(tmp_path_factory.getbasetemp()).encode(), str(Path.home()).encode() + b"/"]
    assert [name for name, data in cold.items() if any(place in data for place in places)] == []
