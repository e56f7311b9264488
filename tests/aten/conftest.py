"""Sets with ATen's templates of the installed torch and few functions, and what torchgen.gen writes for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from project import Project, files_in
from torchgen_gen import run_gen

FOLDER = Path(__file__).parent
FLAGS = ("--per-operator-headers", "--generate", "headers", "sources")

Expected = Callable[..., dict[str, bytes]]


@pytest.fixture
def aten(torch_kernels: Project, tiny_specs: Path, torch_specs: Path) -> Project:
    """The tiny set, with all templates of torch and its tags, and with odd functions."""
    project = torch_kernels
    shutil.copytree(torch_specs / "ATen" / "templates", project.specs / "ATen" / "templates")
    for name in ("native_functions.yaml", "derivatives.yaml"):
        shutil.copyfile(tiny_specs / name, project.path(name))
    project.append("native_functions.yaml", (FOLDER / "odd.yaml").read_text())
    return project


@pytest.fixture
def by_gen(aten: Project, tmp_path: Path) -> Expected:
    """Calls torchgen.gen for that set with further words."""

    def run(*words: str) -> dict[str, bytes]:
        folder = tmp_path / "gen"
        folder.mkdir()
        return run_gen(aten.specs / "ATen", folder, *FLAGS, *words).files

    return run


def generated(project: Project, **variables: object) -> dict[str, bytes]:
    """ATen's files of a build, by their path in the install folder."""
    project.build(**variables)
    return files_in(project.generated / "ATen")
