"""`diff against=git:REV`: a spec set next to what it was in a revision of its repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from project import CORE, Project, Run
from specs.test_spec_set import write_wheel

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is absent: apt-get install git")

FORMULA = "  self: grad * result.conj()\n"  # of exp


def git(folder: Path, *words: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    name = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", folder, *name, *words], check=True, capture_output=True, env={**os.environ, **own})


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a state")


@pytest.fixture
def repository(built: Project) -> Project:
    """A built set in a repository with one commit, which is tagged `first`."""
    git(built.folder, "init", "-q", "-b", "main")
    (built.folder / ".gitignore").write_text("/cache/\n/generated/\n")
    commit(built.folder)
    git(built.folder, "tag", "first")
    return built


def diff(project: Project, revision: str, **variables: object) -> dict[str, Any]:
    run = project.run("diff", "--format", "json", against=f"git:{revision}", **variables).ok()
    report: dict[str, Any] = json.loads(run.stdout)
    return report


def ops(report: dict[str, Any]) -> list[str]:
    return [op["op"] for op in report["ops"]]


def edit(project: Project) -> None:
    project.replace("derivatives.yaml", FORMULA, FORMULA.replace("grad * ", "grad * 1 * "))


def test_the_working_tree_is_compared_with_a_commit_a_tag_and_a_branch(repository: Project) -> None:
    assert ops(diff(repository, "HEAD")) == []
    edit(repository)
    report = diff(repository, "HEAD")
    assert ops(report) == ["exp", "_foreach_exp"]
    assert report["before"]["specs"] == "set at HEAD" and report["after"]["specs"] == "set"
    commit(repository.folder)
    assert ops(diff(repository, "main")) == []
    assert ops(diff(repository, "first")) == ops(diff(repository, "HEAD~1")) == ["exp", "_foreach_exp"]


def test_generated_code_is_compared_with_a_revision(repository: Project) -> None:
    words = ("diff", "--code", "--format=json")
    assert repository.run(*words, against="git:HEAD").status == 0
    edit(repository)
    run = repository.run(*words, against="git:main")
    report = json.loads(run.stdout)
    assert (run.status, report["before"]["specs"], report["after"]["specs"]) == (1, "set at main", "set")
    changed = {(name["op"], change["file"]) for change in report["changes"] for name in change["names"]}
    assert changed == {("exp", "Functions.cpp"), ("_foreach_exp", "Functions.cpp")}


def test_nothing_is_left_and_the_next_run_has_nothing_to_do_for_it(repository: Project) -> None:
    before = sorted(path.name for path in Path(tempfile.gettempdir()).glob("gradmill-*"))
    diff(repository, "first")
    assert sorted(path.name for path in Path(tempfile.gettempdir()).glob("gradmill-*")) == before
    assert repository.run().ran == []


def test_a_set_that_is_the_root_of_its_repository(built: Project) -> None:
    git(built.specs, "init", "-q", "-b", "main")
    commit(built.specs)
    edit(built)
    assert ops(diff(built, "HEAD")) == ["exp", "_foreach_exp"]


def test_the_base_of_a_described_set_is_that_of_the_revision(repository: Project) -> None:
    (repository.folder / "top").mkdir()
    (repository.folder / "top" / "specset.toml").write_text('[base]\nspecs = "../set"\n')
    commit(repository.folder)
    edit(repository)
    report = diff(repository, "HEAD", specs=repository.folder / "top")
    assert (report["before"]["specs"], ops(report)) == ("top at HEAD", ["exp", "_foreach_exp"])


def test_a_file_that_is_new_is_not_in_the_revision(repository: Project) -> None:
    repository.path("templates/ViewFuncs.h").write_text("// new\n")
    assert ops(diff(repository, "HEAD")) == []


def refused(project: Project, revision: str, **variables: object) -> str:
    run: Run = project.run("diff", against=f"git:{revision}", **variables)
    assert (run.status, run.stdout) == (3, "")
    return run.stderr


@pytest.mark.parametrize(
    ("revision", "hint"),
    [("frist", "did you mean 'first'?"), ("nowhere", "git log lists the commits"), ("--all", "git log lists")],
)
def test_a_revision_that_does_not_exist_is_reported(repository: Project, revision: str, hint: str) -> None:
    error = refused(repository, revision)
    assert f"against=git:{revision}: {repository.folder} has no such revision\n  {hint}" in error


@pytest.mark.extension("verify")
def test_what_has_no_revision_is_reported(repository: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    wheel = write_wheel(tmp_path_factory.mktemp("wheel") / "torch-2.13.0.whl", CORE)
    assert "it names no revision\n  write against=git:HEAD" in refused(repository, "")
    assert "the revision has no " in refused(repository, "HEAD", specs=copy_outside_history(repository))
    assert "only diff and verify read a revision" in repository.run("page", against="git:HEAD").stderr
    assert f"{wheel} is not a directory" in refused(repository, "HEAD", specs=wheel)


def copy_outside_history(project: Project) -> Path:
    """A set in the repository that no commit has."""
    return Path(shutil.copytree(project.specs, project.folder / "uncommitted"))


def test_outside_of_a_repository_the_error_says_so(built: Project) -> None:
    error = refused(built, "HEAD")
    assert f"{built.specs} is in no git repository\n  name a set in a repository, or compare with a folder" in error


def test_errors_of_the_revision_name_it(repository: Project) -> None:
    text = repository.path("derivatives.yaml").read_text()
    repository.replace("derivatives.yaml", FORMULA, FORMULA.replace("self", "slef"))
    commit(repository.folder)
    repository.path("derivatives.yaml").write_text(text)
    run = repository.run("diff", against="git:HEAD")
    assert (run.status, run.stdout) == (1, "")
    assert run.stderr.startswith(f"HEAD:{repository.folder.name}/set/derivatives.yaml:")


def test_a_submodule_and_a_link_are_refused(repository: Project, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    shutil.copytree(repository.specs, inner)
    git(inner, "init", "-q", "-b", "main")
    commit(inner)
    git(repository.folder, "submodule", "add", "-q", str(inner), "module")
    commit(repository.folder)
    (repository.folder / "top").mkdir()
    (repository.folder / "top" / "specset.toml").write_text('[base]\nspecs = "../module"\n')
    commit(repository.folder)
    error = refused(repository, "HEAD", specs=repository.folder / "top")
    assert "is in the submodule module\n  check the revision out into another folder" in error
    file = repository.path("tags.yaml")
    file.rename(repository.folder / "tags.yaml")
    file.symlink_to(repository.folder / "tags.yaml")
    commit(repository.folder)
    assert "set/tags.yaml is a symbolic link" in refused(repository, "HEAD")
