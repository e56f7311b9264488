"""What gradmill may write to and remove: its own files, and nothing else, in every command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from project import ROOT, Project, assert_clean, files_in


@pytest.mark.parametrize(
    "words",
    [("list", "--status"), ("list", "--all", "--status"), ("explain", "Functions.h"), ("clean", "-n")],
    ids=" ".join,
)
def test_who_only_looks_writes_nothing(built: Project, words: tuple[str, ...]) -> None:
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    before = files_in(built.generated), files_in(built.cache)
    for more in ({}, {"layout": "split"}, {"families": "nodes"}):
        built.gradmill(*words, **more)
        assert files_in(built.generated) == before[0]
        files = files_in(built.cache)
        assert {name: data for name, data in files.items() if "/rows" not in name or name in before[1]} == before[1]
    assert "manifest" in built.gradmill().ran


def test_a_depfile_without_a_record_is_known_by_its_rule(project: Project) -> None:
    variables = {"layout": "split", "families": "factories"}
    assert project.gradmill(**variables).status == 0
    depfile = project.generated / "variable_factories.h.d"
    rule = depfile.read_text()
    for text, refused in (("factories.o: mine.h\n", True), (f"{rule}\n", False)):
        shutil.rmtree(project.cache)
        shutil.rmtree(project.generated / ".gradmill", ignore_errors=True)
        depfile.write_text(text)
        run = project.gradmill(**variables)
        assert (run.status != 0) == refused, run.stderr
        assert (f"{depfile}: there is a file that gradmill did not generate" in run.stderr) == refused
    assert depfile.read_text() == rule


def test_depfiles_have_paths_as_they_are_given_now(project: Project) -> None:
    assert project.gradmill(cache="cache").status == 0
    rule = project.cache / project.specs.name / "manifest.json.d"
    assert rule.read_text().startswith("cache/")
    assert project.gradmill().ran == ["manifest"]
    assert rule.read_text().startswith(str(project.cache))
    assert project.gradmill().ran == []


@pytest.mark.parametrize("there", ["nobody reads", "full", "closed"])
def test_output_that_goes_nowhere_is_no_traceback(built: Project, there: str) -> None:
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    for again in (False, True):
        run = _apart(built, there)
        assert "Traceback" not in run.stderr
        assert (run.returncode == 0) == (there == "closed"), run.stderr
        assert again or _apart(built).returncode == 0  # what follows has nothing to do
    assert_clean(built)


def _apart(project: Project, there: str = "") -> subprocess.CompletedProcess[str]:
    """gradmill in a process of its own, whose output goes `there`."""
    out = os.open("/dev/full" if there == "full" else os.devnull, os.O_WRONLY)
    if there == "nobody reads":
        os.close(out)
        reading, out = os.pipe()
        os.close(reading)
    closed = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-m", "gradmill", *project.words]
    try:
        return subprocess.run(
            [sys.executable, "-c", closed, *command] if there == "closed" else command,
            cwd=project.folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "pipeline")},
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(out)


@pytest.mark.extension("graphs")
def test_graphs_of_an_older_release_are_refused(project: Project) -> None:
    (project.specs / "RELEASE").write_text("2.9.0\n")
    project.gradmill(graphs=str(project.specs)).failed("this is for PyTorch 2.10 and newer, not for 2.9", status=3)


def test_clean_removes_depfiles_too(project: Project) -> None:
    assert project.gradmill(layout="split").status == 0
    assert list(project.generated.rglob("*.d"))
    assert project.gradmill("clean", layout="split").status == 0
    assert not list(project.generated.rglob("*.d"))
    left = [path.name for path in (project.cache / project.specs.name).glob("*.json*")]
    assert not left
