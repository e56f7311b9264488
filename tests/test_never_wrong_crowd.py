"""Eight runs at once on one cache: all come to an end, and to the right one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from never_wrong.builds import Result, clean_build
from never_wrong.edits import edit
from never_wrong.seed import REPEAT, SEED, seeded
from never_wrong.specset import DERIVATIVES, read_specs
from project import CORE, Project, finish

RUNS = 8
SECONDS = 120  # until a run counts as hanging


def _finish(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        stdout, stderr = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, f"{stdout}\n{stderr}"
        assert "Traceback" not in stderr


def _made(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _nodes_and_shards(result: Result) -> dict[str, bytes]:
    return {name: data for name, data in result.files.items() if name != "manifest.json"}


def test_runs_on_one_set_and_one_folder_are_all_right(project: Project, tmp_path: Path) -> None:
    _finish([project.start() for _ in range(RUNS)])
    assert project.files() == _nodes_and_shards(clean_build(project.specs, tmp_path / "clean"))
    assert project.run().ran == []


def test_runs_after_an_edit_on_one_set_and_one_folder_are_all_right(built: Project, tmp_path: Path) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 2")
    _finish([built.start() for _ in range(RUNS)])
    assert built.files() == _nodes_and_shards(clean_build(built.specs, tmp_path / "clean"))
    assert built.run().ran == []


def test_runs_on_one_set_and_different_folders_are_all_right(project: Project, tmp_path: Path) -> None:
    folders = [tmp_path / str(i) for i in range(RUNS)]
    _finish([project.start(generated=folder) for folder in folders])
    expected = _nodes_and_shards(clean_build(project.specs, tmp_path / "clean"))
    assert [folder for folder in folders if _made(folder) != expected] == []


def test_runs_on_different_sets_are_all_right(project: Project, tmp_path: Path) -> None:
    _assert_all_right(project, tmp_path, [f"set{i}" for i in range(RUNS)])


def test_runs_on_different_sets_of_one_name_are_all_right(project: Project, tmp_path: Path) -> None:
    _assert_all_right(project, tmp_path, [f"{i}/set" for i in range(RUNS)])


def _assert_all_right(project: Project, tmp_path: Path, names: list[str]) -> None:
    random = seeded(SEED)
    expected = {}
    for name in names:
        folder = tmp_path / "sets" / name
        shutil.copytree(project.specs, folder)
        while name not in expected:
            specs = read_specs(CORE)
            edit(specs, DERIVATIVES, random.randrange(len(specs.derivatives)), random)
            specs.write(folder)
            found = clean_build(folder, tmp_path / "clean")
            if found.accepted:
                expected[name] = _nodes_and_shards(found)
    _finish([project.start(specs=tmp_path / "sets" / n, generated=tmp_path / "out" / n) for n in names])
    assert [name for name in names if _made(tmp_path / "out" / name) != expected[name]] == [], REPEAT


def test_two_processes_of_each_of_the_runs_are_all_right(project: Project, tmp_path: Path) -> None:
    _finish([project.start("-n", "2") for _ in range(RUNS // 2)])
    assert project.files() == _nodes_and_shards(clean_build(project.specs, tmp_path / "clean"))


def test_a_run_beside_a_killed_one_is_right(project: Project, tmp_path: Path) -> None:
    first, second = project.start(), project.start()
    assert first.stdout is not None
    first.stdout.readline()
    first.kill()
    finish(first)
    _finish([second])
    assert project.files() == _nodes_and_shards(clean_build(project.specs, tmp_path / "clean"))
