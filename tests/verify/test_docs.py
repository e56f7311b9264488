"""docs/verify.md: its hook and its workflow, on a set in a git repository; its new operator."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import pytest
import yaml
from copies import copy_of
from never_wrong.specset import make_folder, of_families, read_specs
from project import CORE, ROOT, Project, Run
from test_recipes import is_shown
from test_recipes import steps as commands

from gradmill.cli.commands.init import init
from verify.edited import PACKAGED, RELEASE, installed, verify
from verify.wrong_in_torch import known, wrong

pytestmark = pytest.mark.slow(10)  # they compile

PAGE, WRONG_IN_TORCH = ((ROOT / "docs" / name).read_text() for name in ("verify.md", "wrong-in-torch.md"))
GRADMILL = f"{sys.executable} -m gradmill"
RIGHT, WRONG = "grad.unsqueeze(1) * vec.conj()", "grad.unsqueeze(1) * vec"


def block(mark: str, page: str = PAGE) -> str:
    """The code block of a page that begins with a comment."""
    (found,) = re.findall(rf"^```\w+\n# {re.escape(mark)}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A set of one operator, in a git repository of its own that has a branch of a remote."""
    folder = make_folder(tmp_path_factory.mktemp("mv") / "set", CORE, "2.13.0")
    of_families(read_specs(CORE), ["mv"]).write(folder)
    project = Project(tmp_path_factory.mktemp("repository"), folder, "2.13.0")
    (project.specs / ".gitignore").write_text("cache/\n")
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "the base")
    git(project, "update-ref", "refs/remotes/origin/main", "HEAD")
    return project


def git(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-C", str(project.specs), *words]
    environment = {name: value for name, value in os.environ.items() if name != "GIT_DIR"}
    environment["PYTHONPATH"] = str(ROOT / "pipeline")
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def workflow(project: Project) -> Run:
    """The last step of the workflow, which has torch and gradmill installed."""
    *_, install, step = yaml.safe_load(block(".github/workflows/derivatives.yml"))["jobs"]["verify"]["steps"]
    assert install["run"] == "pip install gradmill torch"
    command = step["run"].replace("${{ github.base_ref }}", "main")
    words = command.replace("gradmill", GRADMILL, 1).split()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "pipeline")}
    done = subprocess.run(words, cwd=project.specs, capture_output=True, text=True, env=environment, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


def test_the_workflow_annotates_what_is_wrong(repository: Project) -> None:
    assert workflow(repository).stdout == ""
    repository.replace("derivatives.yaml", RIGHT, WRONG)
    run = workflow(repository)
    repository.replace("derivatives.yaml", WRONG, RIGHT)
    assert run.status == 1
    assert re.search(
        r"^::error file=derivatives.yaml,title=mv,line=\d+,col=9::mv: self: the gradient of self", run.stdout, re.M
    )


def test_the_hook_refuses_a_commit_with_a_wrong_formula(repository: Project) -> None:
    (hook,) = yaml.safe_load(block(".pre-commit-config.yaml"))[0]["hooks"]
    assert re.search(hook["files"], "tools/autograd/derivatives.yaml")
    assert not re.search(hook["files"], "derivatives.yaml.md")
    assert (hook["language"], hook["pass_filenames"]) == ("system", False)
    script = repository.specs / ".git/hooks/pre-commit"
    script.write_text(f"#!/bin/sh\nexec {hook['entry'].replace('gradmill', GRADMILL, 1)}\n")
    script.chmod(0o755)
    assert git(repository, "add", ".").returncode == 0
    assert git(repository, "commit", "-qm", "right", "--allow-empty").returncode == 0
    repository.replace("derivatives.yaml", RIGHT, WRONG)
    refused = git(repository, "commit", "-qam", "wrong")
    assert refused.returncode == 1
    assert "mv: self: the gradient of self" in refused.stdout + refused.stderr
    repository.replace("derivatives.yaml", WRONG, RIGHT)
    assert git(repository, "commit", "-qm", "mended", "--allow-empty").returncode == 0


def test_what_is_wrong_in_torch_is_wrong_there() -> None:
    script = block("each assertion holds in torch 2.13.0", WRONG_IN_TORCH)
    assert script.count("assert ") == 9
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_wrong_in_torch_is_listed_as_the_program_finds_it(tmp_path: Path) -> None:
    names = ["ldexp.Tensor", "as_strided_scatter"]
    rows = verify(installed(), names, tmp_path)
    assert {name: wrong(rows[name]) for name in names} == {name: known()[name] for name in names}
    listed = {name.partition(".")[0] for name in known()}
    shown = re.findall(
        r"^# ([\w, ]+?)(?: with numbers)?: ",
        block("each assertion holds in torch 2.13.0", WRONG_IN_TORCH),
        re.MULTILINE,
    )
    assert {name for line in shown for name in line.split(", ")} <= listed


def test_what_is_wrong_as_torchs_own_fails_with_strict_alone(tmp_path: Path) -> None:
    words = ["verify", "as_strided_scatter", f"specs={PACKAGED}", f"release={RELEASE}", f"cache={tmp_path}"]
    for strict, status in ((0, 0), (1, 1)):
        run = forked.gradmill([*words, f"strict={strict}"], tmp_path)
        assert (run.status, run.stdout.splitlines()[-1].partition(",")[0]) == (status, "1 shared with torch")
        assert ", as torch's own: for " in run.stdout


def test_a_wrong_formula_is_reported_as_the_page_shows(tmp_path: Path) -> None:
    path = Path(shutil.copytree(CORE, tmp_path / "mine"), "derivatives.yaml")
    before, entry, after = path.read_text().partition("- name: exp(Tensor self) -> Tensor\n  self: ")
    path.write_text(f"{before}{entry}-{after}")
    step = next(each for each in commands(PAGE) if each.command == "gradmill specs=mine verify exp")
    run = forked.gradmill(step.command.split()[1:], tmp_path)
    assert run.status == 1
    *lines, summary = step.shown.rstrip("\n").splitlines()
    assert run.stdout.splitlines()[:-1] == lines
    assert run.stdout.splitlines()[-1].startswith(summary.rpartition(", ")[0])


@pytest.mark.slow(8)
def test_the_new_operator_is_verified_as_the_page_shows(small_built: Project, tmp_path: Path) -> None:
    project = copy_of(small_built, tmp_path)
    texts = {name: block(name) for name in ("native_functions.yaml", "derivatives.yaml", "softcap.py")}
    assert sum(bool(line) for text in texts.values() for line in text.splitlines()) <= 10
    for name in ("native_functions.yaml", "derivatives.yaml"):
        project.append(name, texts[name].rstrip("\n"))
    (project.folder / "softcap.py").write_text(texts["softcap.py"])
    project.specs.rename(project.folder / "mine")
    (step,) = [each for each in commands(PAGE) if "softcap" in each.command]
    program, *words = step.command.split()
    assert program == "gradmill"
    run = forked.gradmill(words, project.folder).clean()
    assert is_shown(step.shown, run.stdout), run.stdout


def test_an_operator_in_a_namespace_of_its_own_is_verified_for_real_outputs(tmp_path: Path) -> None:
    """Its kernel refuses gradients of complex ones, unless a fact says that they are right."""
    init(str(tmp_path), "torch")
    formulas, description = tmp_path / "derivatives.yaml", tmp_path / "specset.toml"
    right = formulas.read_text()
    formulas.write_text(right.replace("(self * self).conj()", "self * self"))
    run = forked.gradmill(["verify", "toy::cube"], tmp_path)
    assert (run.status, "\n1 verified, with torch " in run.stdout) == (0, True), run.stdout
    description.write_text(description.read_text() + '[[facts]]\nadd.complex_differentiable = ["cube"]\n')
    run = forked.gradmill(["verify"], tmp_path)
    assert run.stderr.endswith("no commit has this set: all 1 formulas are verified; name some, or against=\n")
    assert (run.status, "complex128" in run.stdout) == (1, True), run.stdout
    (tmp_path / "reference.py").write_text("def cube(self):\n    return self * (\n")
    assert "reference.py:2: '(' was never closed\n" in forked.gradmill(["verify", "cube"], tmp_path).stderr
    formulas.write_text(right.replace("self * self", "self.nosuch()"))
    run = forked.gradmill(["verify", "cube"], tmp_path)
    problem = "derivatives.yaml:1:9: warning: cube: CubeBackward0 is not verified: does not compile"
    assert run.stdout.startswith(problem) or f"/{problem}" in run.stdout, run.stdout
