"""Runs at once on one cache, six or three: all come to an end, and to the right one, or are refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from project import Project, Run, files_in, finish

from never_wrong.builds import Result, clean_build
from never_wrong.edits import edit
from never_wrong.seed import REPEAT, SEED, seeded
from never_wrong.specset import DERIVATIVES, read_specs

RUNS = 6
SETS = 3  # each is built by itself first, to compare with
SECONDS = 120  # until a run counts as hanging


def _ended(processes: list[subprocess.Popen[str]]) -> list[Run]:
    """How runs ended; a hanging one fails."""
    return [Run(p.returncode, *texts) for p, texts in [(p, p.communicate(timeout=SECONDS)) for p in processes]]


def _finish(processes: list[subprocess.Popen[str]]) -> None:
    for run in _ended(processes):
        assert run.status == 0, f"{run.stdout}\n{run.stderr}"
        assert "Traceback" not in run.stderr


def _made(folder: Path) -> dict[str, bytes]:
    return files_in(folder)


def _nodes_and_shards(result: Result) -> dict[str, bytes]:
    return {name: data for name, data in result.files.items() if name != "manifest.json"}


def test_runs_on_one_set_and_one_folder_are_all_right(project: Project) -> None:
    """The first ones, and those after an edit."""
    for formula in ("grad * result.conj()", "grad * result.conj() * 2"):
        project.set_formula("exp", "self", formula)
        _finish([project.start() for _ in range(RUNS)])
        assert project.files() == project.clean_build()
        assert project.run().ran == []


def test_runs_on_one_set_and_different_folders_are_all_right(project: Project, tmp_path: Path) -> None:
    folders = [tmp_path / str(i) for i in range(RUNS)]
    _finish([project.start(generated=folder) for folder in folders])
    assert [folder for folder in folders if _made(folder) != project.clean_build()] == []


def test_runs_on_different_sets_are_all_right(project: Project, tmp_path: Path) -> None:
    expected = _edited_sets(project, tmp_path, [f"set{i}" for i in range(SETS)])
    _finish([_start(project, tmp_path, name) for name in expected])
    assert [name for name in expected if _made(tmp_path / "out" / name) != expected[name]] == [], REPEAT


def test_runs_on_different_sets_of_one_name_are_right_or_refused(project: Project, tmp_path: Path) -> None:
    """The set's folder in the cache belongs to the first; the others do nothing, and report it."""
    expected = _edited_sets(project, tmp_path, [f"{i}/set" for i in range(SETS)])
    runs = dict(zip(expected, _ended([_start(project, tmp_path, name) for name in expected])))
    right = [name for name, run in runs.items() if run.status == 0]
    refused = [name for name in runs if name not in right]
    assert right, REPEAT
    assert [name for name in right if _made(tmp_path / "out" / name) != expected[name]] == [], REPEAT
    for name in refused:
        run = runs[name]
        assert run.status in (2, 3), f"{REPEAT}\n{run.stdout}\n{run.stderr}"
        assert f"{project.cache / 'set'} belongs to another spec set" in run.stderr
        assert "name another place: cache=DIR" in run.stderr
        assert "Traceback" not in run.stderr
        assert _made(tmp_path / "out" / name) == {}
    for name in refused[:2]:
        _finish([_start(project, tmp_path, name, cache=tmp_path / "other" / name)])
        assert _made(tmp_path / "out" / name) == expected[name], REPEAT


def _edited_sets(project: Project, tmp_path: Path, names: list[str]) -> dict[str, dict[str, bytes]]:
    """Sets that differ in an edit, and in what is generated from them; what each gives alone."""
    random = seeded(SEED)
    expected: dict[str, dict[str, bytes]] = {}
    for name in names:
        folder = tmp_path / "sets" / name
        shutil.copytree(project.specs, folder)
        while name not in expected:
            specs = read_specs(project.specs)
            edit(specs, DERIVATIVES, random.randrange(len(specs.derivatives)), random)
            specs.write(folder)
            result = clean_build(folder, tmp_path / "clean")
            files = _nodes_and_shards(result)
            if result.accepted and files not in expected.values():
                expected[name] = files
    return expected


def _start(project: Project, tmp_path: Path, name: str, **variables: object) -> subprocess.Popen[str]:
    return project.start(specs=tmp_path / "sets" / name, generated=tmp_path / "out" / name, **variables)


def test_two_processes_of_each_of_the_runs_are_all_right(project: Project) -> None:
    _finish([project.start("-n", "2") for _ in range(RUNS // 2)])
    assert project.files() == project.clean_build()


def test_a_run_next_to_a_killed_one_is_right(project: Project) -> None:
    first, second = project.start(), project.start()
    assert first.stdout is not None
    first.stdout.readline()
    first.kill()
    finish(first)
    _finish([second])
    assert project.files() == project.clean_build()
