"""Runs at once on one cache, four or three: all come to an end, and to the right one, or are refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from project import Project, Run, files_in, finish

RUNS = 4
SETS = 3  # each is built by itself first, to compare with
SECONDS = 120  # until a run counts as hanging


def _ended(processes: list[subprocess.Popen[str]]) -> list[Run]:
    """How runs ended; a hanging one fails."""
    return [Run(p.returncode, *texts) for p, texts in [(p, p.communicate(timeout=SECONDS)) for p in processes]]


def _finish(processes: list[subprocess.Popen[str]]) -> None:
    for run in _ended(processes):
        assert run.status == 0, f"{run.stdout}\n{run.stderr}"
        assert "Traceback" not in run.stderr


def test_runs_on_one_set_and_one_folder_are_all_right(project: Project) -> None:
    """The first ones, and those after an edit."""
    for formula in ("grad * result.conj()", "grad * result.conj() * 2"):
        project.set_formula("exp", "self", formula)
        _finish([project.start() for _ in range(RUNS)])
        assert project.files() == project.clean_build()
        assert project.run().ran == []


def test_runs_on_different_sets_of_one_name_are_right_or_refused(project: Project, tmp_path: Path) -> None:
    """The set's folder in the cache belongs to the first; the others do nothing, and report it."""
    expected = _edited_sets(project, tmp_path, [f"{i}/set" for i in range(SETS)])
    runs = dict(zip(expected, _ended([_start(project, tmp_path, name) for name in expected])))
    right = [name for name, run in runs.items() if run.status == 0]
    refused = [name for name in runs if name not in right]
    assert right
    assert [name for name in right if files_in(tmp_path / "out" / name) != expected[name]] == []
    for name in refused:
        run = runs[name]
        assert run.status in (1, 3), f"{run.stdout}\n{run.stderr}"
        assert f"{project.cache / 'set'} belongs to another spec set" in run.stderr
        assert "name another place: cache=DIR" in run.stderr
        assert "Traceback" not in run.stderr
        assert files_in(tmp_path / "out" / name) == {}
    for name in refused[:2]:
        _finish([_start(project, tmp_path, name, cache=tmp_path / "other" / name)])
        assert files_in(tmp_path / "out" / name) == expected[name]


def _edited_sets(project: Project, tmp_path: Path, names: list[str]) -> dict[str, dict[str, bytes]]:
    """Sets that differ in a formula, and what each gives alone."""
    expected: dict[str, dict[str, bytes]] = {}
    for number, name in enumerate(names, 2):
        project.set_formula("exp", "self", f"grad * result.conj() * {number}")
        shutil.copytree(project.specs, tmp_path / "sets" / name)
        expected[name] = project.clean_build()
    return expected


def _start(project: Project, tmp_path: Path, name: str, **variables: object) -> subprocess.Popen[str]:
    return project.start(specs=tmp_path / "sets" / name, generated=tmp_path / "out" / name, **variables)


def test_a_run_next_to_a_killed_one_is_right(project: Project) -> None:
    first, second = project.start(), project.start()
    assert first.stdout is not None
    first.stdout.readline()
    first.kill()
    finish(first)
    _finish([second])
    assert project.files() == project.clean_build()
