"""A PyTorch checkout as a spec set: its own layout, its version.txt, and what a build of it leaves behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import forked
import pytest
from copies import copy_of
from project import CORE, Project, Run, files_in

VERSION = f"{(CORE / 'RELEASE').read_text().strip()}a0"
PLACES = {
    "native_functions.yaml": "aten/src/ATen/native/native_functions.yaml",
    "tags.yaml": "aten/src/ATen/native/tags.yaml",
    "derivatives.yaml": "tools/autograd/derivatives.yaml",
    "templates": "tools/autograd/templates",
}


def as_checkout(project: Project, folder: Path, version: str = VERSION) -> Path:
    """The files of a spec set, as PyTorch's repository has them."""
    for name, place in PLACES.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if name == "templates" else shutil.copyfile)(project.path(name), target)
    (folder / "version.txt").write_text(f"{version}\n")
    return folder


def gradmill(folder: Path, *words: str) -> Run:
    return Run(*forked.gradmill(list(words), folder))


@pytest.fixture
def project(tiny_built: Project, tmp_path: Path) -> Project:
    """A few operators, built from a flat folder."""
    return copy_of(tiny_built, tmp_path / "flat")


@pytest.fixture
def checkout(project: Project, tmp_path: Path) -> Path:
    return as_checkout(project, tmp_path / "pytorch")


def test_a_checkout_gives_what_the_same_files_give_in_another_layout(project: Project, checkout: Path) -> None:
    run = gradmill(checkout.parent, "specs=pytorch")
    assert (run.status, run.stderr) == (0, "")
    made = files_in(checkout.parent / "generated" / "pytorch")
    assert made == project.files()
    assert b"@generated from packaged/autograd/templates/Functions.h" in made["Functions.h"].replace(b"\\", b"")


@pytest.mark.slow
def test_the_same_of_all_of_torch(torch_kernels: Project, tmp_path: Path) -> None:
    as_checkout(torch_kernels, tmp_path / "pytorch")
    run = gradmill(tmp_path, "specs=pytorch", "generated=out")
    assert (run.status, run.stderr) == (0, "")
    assert files_in(tmp_path / "out") == torch_kernels.build().files()


def test_a_mistake_is_shown_where_the_checkout_has_it(checkout: Path, tmp_path: Path) -> None:
    path = checkout / PLACES["derivatives.yaml"]
    path.write_text(path.read_text().replace("self: grad * result.conj()\n", "slef: grad * result.conj()\n"))
    run = gradmill(tmp_path, "specs=pytorch")
    assert run.status == 1
    assert run.stderr.startswith("pytorch/tools/autograd/derivatives.yaml:")
    run = gradmill(checkout, "specs=.")
    assert run.stderr.startswith("tools/autograd/derivatives.yaml:")


def test_copies_that_a_build_left_in_a_checkout_are_not_read(project: Project, checkout: Path, tmp_path: Path) -> None:
    left = checkout / "torchgen" / "packaged"
    for name, place in {"native_functions.yaml": "ATen/native", "derivatives.yaml": "autograd"}.items():
        (left / place).mkdir(parents=True)
        (left / place / name).write_text("old")
    (checkout / "torch").mkdir()
    (checkout / "torch" / "version.py").write_text("__version__ = '2.4.0a0'\n")
    run = gradmill(tmp_path, "specs=pytorch", "list")
    assert (run.status, run.stderr) == (0, "")
    assert gradmill(tmp_path, "specs=pytorch").status == 0


@pytest.mark.parametrize("version", ["99.0.0a0", "1.13.0a0", "two"])
def test_a_checkout_of_a_release_that_is_not_known_says_so(checkout: Path, tmp_path: Path, version: str) -> None:
    (checkout / "version.txt").write_text(version)
    run = gradmill(tmp_path, "specs=pytorch")
    assert run.status == 3
    assert run.stderr.startswith(f"ERROR: pytorch/version.txt: PyTorch release '{version}' is not known\n")
    assert "say release=" in run.stderr
    assert not (tmp_path / "generated").exists()


def test_it_can_be_read_as_a_release_that_is_known(project: Project, checkout: Path, tmp_path: Path) -> None:
    (checkout / "version.txt").write_text("99.0.0a0+git1234567")
    run = gradmill(tmp_path, "specs=pytorch", "release=2.13")
    assert run.status == 0
    assert run.stderr == "warning: pytorch/version.txt: PyTorch 99.0.0a0+git1234567 is not known; it is read as 2.13\n"
    assert files_in(tmp_path / "generated" / "pytorch") == project.files()


def test_another_release_than_that_of_the_checkout_is_refused(checkout: Path, tmp_path: Path) -> None:
    run = gradmill(tmp_path, "specs=pytorch", "release=2.12")
    assert run.status == 3
    assert f"pytorch/version.txt says that the spec set is for {VERSION}" in run.stderr


def test_a_checkout_whose_version_changes_is_looked_at_again(checkout: Path, tmp_path: Path) -> None:
    assert gradmill(tmp_path, "specs=pytorch").status == 0
    assert gradmill(tmp_path, "specs=pytorch").ran == []
    (checkout / "version.txt").write_text("99.0.0a0")
    assert gradmill(tmp_path, "specs=pytorch").status == 3
    (checkout / "version.txt").unlink()
    run = gradmill(tmp_path, "specs=pytorch")
    assert "the PyTorch release cannot be told" in run.stderr


def test_a_checkout_is_a_base_for_layers(project: Project, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "specset.toml").write_text('name = "own"\n[base]\nspecs = "pytorch"\n')
    run = gradmill(tmp_path, "specs=specset.toml")
    assert (run.status, run.stderr) == (0, "")
    assert files_in(tmp_path / "generated" / "own")["Functions.h"] == project.files()["Functions.h"]
