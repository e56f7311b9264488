"""Extensions can be left out: without their folders the core does what it does with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from installed import copy_clone
from project import ROOT, Project, files_in

from gradmill.doors import extensions

FOLDERS = sorted(path.parent.name for path in (ROOT / "pipeline/gradmill/extensions").glob("*/extension.py"))
TESTS = ("query", "grammar", "cpp", "rules", "specs", "stages/test_equality.py", "cli/test_help.py", "test_house.py")


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package without extensions."""
    folder = tmp_path_factory.mktemp("core")
    copy_clone(folder, ("pipeline", "tests"), *FOLDERS)
    files = ("pyproject.toml", "dodo.py", "README.md", "CHANGELOG.md")
    copy_clone(folder, ("specs", "docs", "examples", *files), "build", "generated", "cache")
    assert not list((folder / "pipeline").rglob("extension.py"))
    (folder / "pipeline/gradmill/extensions/graphs/__pycache__").mkdir(parents=True)  # as Git leaves it
    return folder


def run(core: Path, *words: str, module: str = "gradmill") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(core / "pipeline")}
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, cwd=core, env=environment, capture_output=True, text=True, check=False)


def test_the_table_names_each_extension_that_is_there() -> None:
    assert sorted(extensions()) == FOLDERS


def test_the_core_generates_the_same_files(core: Path, built: Project) -> None:
    first = run(core, f"specs={built.specs}", "generated=generated")
    assert first.returncode == 0, first.stderr
    assert files_in(core / "generated") == files_in(built.generated)
    again = run(core, f"specs={built.specs}", "generated=generated")
    assert again.returncode == 0 and "none changed" in again.stdout


@pytest.mark.parametrize("word", ["pyi", "verify", "page", "lsp"])
def test_a_command_of_an_extension_is_not_there(core: Path, word: str) -> None:
    assert f"\n  {word} " not in run(core, "help").stdout
    ended = run(core, word)
    assert ended.returncode != 0 and f"there is no command, stage, unit or file '{word}'" in ended.stderr


def test_files_of_an_extension_are_not_known(core: Path) -> None:
    ended = run(core, "graphs=specs/core/graphs")
    assert ended.returncode != 0 and "graphs=specs/core/graphs: there is no such variable" in ended.stderr
    assert "no stage 'graphs'" in run(core, "show", "graphs").stderr
    assert "families=stubs: there is no family 'stubs'" in run(core, "families=stubs").stderr


def test_a_first_set_has_nothing_of_an_extension(core: Path) -> None:
    assert run(core, "init", "mine", "specs=core").returncode == 0
    written = sorted(path.name for path in (core / "mine").iterdir())
    assert written == ["derivatives.yaml", "functions.yaml", "specset.toml"]
    ended = run(core, "check", "specs=mine/specset.toml", "cache=mine/cache")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow(60)
def test_tests_of_the_core_pass(core: Path) -> None:
    """Some of them. Those that are about extensions are not run there."""
    ended = run(core, "-q", "-n", "2", *(f"tests/{name}" for name in TESTS), module="pytest")
    assert ended.returncode == 0, ended.stdout[-4000:]
