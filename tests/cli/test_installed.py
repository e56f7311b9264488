"""gradmill as users install it: a wheel in its own virtual environment, without a clone."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from installed import run
from project import CORE, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def gradmill(commands: Path) -> Path:
    return commands / "gradmill"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a spec set in it, `mine`."""
    shutil.copytree(CORE, tmp_path / "mine")
    return tmp_path


# ---- what is in the wheel


def test_the_wheel_has_the_package_the_embedded_set_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    actual = {name for name in names if ".dist-info/" not in name and ".data/" not in name}
    modules = {
        path.relative_to(ROOT / "pipeline").as_posix()
        for path in (ROOT / "pipeline" / "gradmill").rglob("*")
        if _is_wanted(path)
    }
    core = {f"gradmill/specs/core/{path.relative_to(CORE).as_posix()}" for path in CORE.rglob("*") if _is_wanted(path)}
    assert actual == modules | core
    data = {name.partition(".data/")[2] for name in names if ".data/" in name}
    assert data == {f"data/share/cmake/gradmill/gradmill{name}.cmake" for name in ("Config", "ConfigVersion")}
    assert {
        "gradmill/py.typed",
        "gradmill/families/nodes/node.cpp",
        "gradmill/specs/core/RELEASE",
    } <= actual


def _is_wanted(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def test_the_wheel_says_what_it_is_and_under_which_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
        license_text = archive.read(metadata.replace("METADATA", "licenses/LICENSE")).decode()
    head = text.partition("\n\n")[0].splitlines()
    assert {"License-Expression: BSD-3-Clause", "License-File: LICENSE", "Author: gradmill developers"} <= set(head)
    assert "Classifier: Typing :: Typed" in head
    assert license_text == (ROOT / "LICENSE").read_text()


# ---- what it does in an empty folder


def test_the_ninja_file_calls_the_installed_command(gradmill: Path, folder: Path) -> None:
    done = run(gradmill, "specs=mine", "export", "ninja", cwd=folder).ok()
    assert str(ROOT) not in done.stdout
    command = next(line for line in done.stdout.splitlines() if line.strip().startswith("command ="))
    assert "dodo" not in command
