"""Sets with ATen's templates of the installed torch and few functions, and what torchgen.gen writes for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from never_wrong.oracle import Oracle
from project import Project, files_in
from torchgen_gen import SHIMS, Refused

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
def by_gen(aten: Project, tmp_path: Path, torchgen: Oracle) -> Expected:
    """Calls torchgen.gen for that set with further words. Refused if it fails."""

    def run(*words: str) -> dict[str, bytes]:
        folder = tmp_path / "gen"
        folder.mkdir()
        error = torchgen.run_gen(aten.specs / "ATen", folder, f"--aoti-install-dir={SHIMS}", *FLAGS, *words)
        if error:
            raise Refused(error)
        return files_in(folder)

    return run


def generated(project: Project, **variables: object) -> dict[str, bytes]:
    """ATen's files of a build, by their path in the install folder."""
    project.build(**variables)
    return files_in(project.generated / "ATen")
