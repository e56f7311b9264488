"""A PyTorch checkout as a spec set: its own layout, its version.txt, and what a build of it leaves behind."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import forked
import pytest
from checkouts import PLACES, headers_in, lay_out
from copies import copy_of
from project import CORE, PACKAGED, Project, Run, files_in

VERSION = f"{(CORE / 'RELEASE').read_text().strip()}a0"


def gradmill(folder: Path, *words: str) -> Run:
    return forked.gradmill(list(words), folder)


@pytest.fixture
def project(tiny_built: Project, tmp_path: Path) -> Project:
    """A few operators, built from a flat folder."""
    return copy_of(tiny_built, tmp_path / "flat")


@pytest.fixture
def checkout(project: Project, tmp_path: Path) -> Path:
    return lay_out(tmp_path / "pytorch", project.path, VERSION)


def test_in_its_folder_a_run_uses_it_without_being_given_its_name(checkout: Path) -> None:
    run = gradmill(checkout)
    mark = "aten/src/ATen/native/native_functions.yaml"
    assert (run.status, run.stderr) == (0, f"specs=.: the spec set of this folder, which has {mark}\n")
    assert "files in generated/pytorch" in run.stdout


@pytest.mark.parametrize("specs", ["pytorch", "pytorch/.", "layers"])
def test_the_comments_name_the_templates_as_the_build_does_whatever_leads_to_them(
    project: Project, checkout: Path, tmp_path: Path, specs: str
) -> None:
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers" / "specset.toml").write_text('name = "own"\n[base]\nspecs = "../pytorch"\n')
    assert gradmill(tmp_path, f"specs={specs}", "generated=out").status == 0
    there = b"../tools/autograd/templates/"
    expected = {n: data.replace(b"packaged/autograd/templates/", there) for n, data in project.files().items()}
    assert files_in(tmp_path / "out") == expected


def test_the_headers_are_those_that_the_build_of_the_installed_torch_made(torch_specs: Path, tmp_path: Path) -> None:
    package = torch_specs.parent.parent
    lay_out(tmp_path / "pytorch", lambda name: torch_specs / PACKAGED[name], metadata.version("torch"))
    gradmill(tmp_path, "specs=pytorch", "generated=out", "families=nodes,view_funcs,factories").clean()
    made, shipped = files_in(tmp_path / "out"), headers_in(package)
    both = {*made} & {*shipped}
    assert {*shipped} - both == {"VariableType.h"}  # whose family takes longest
    assert [name for name in both if made[name] != shipped[name]] == []


def test_an_error_is_shown_where_the_checkout_has_it(checkout: Path, tmp_path: Path) -> None:
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
    gradmill(tmp_path, "specs=pytorch", "list").clean()
    assert gradmill(tmp_path, "specs=pytorch").status == 0


@pytest.mark.parametrize("version", ["99.0.0a0", "1.13.0a0", "two"])
def test_a_checkout_of_a_release_that_is_not_known_says_so(checkout: Path, tmp_path: Path, version: str) -> None:
    (checkout / "version.txt").write_text(version)
    run = gradmill(tmp_path, "specs=pytorch")
    assert run.status == 3
    assert run.stderr.startswith(f"ERROR: pytorch/version.txt: PyTorch release '{version}' is not known\n")
    assert "release=" in run.stderr
    assert not (tmp_path / "generated").exists()


def test_it_can_be_read_as_a_release_that_is_known(project: Project, checkout: Path, tmp_path: Path) -> None:
    (checkout / "version.txt").write_text("99.0.0a0+git1234567")
    run = gradmill(tmp_path, "specs=pytorch", "release=2.13").ok()
    assert run.stderr == "warning: pytorch/version.txt: PyTorch 99.0.0a0+git1234567 is not known; it is read as 2.13\n"
    assert files_in(tmp_path / "generated" / "pytorch").keys() == project.files().keys()


def test_another_release_than_that_of_the_checkout_is_refused(checkout: Path, tmp_path: Path) -> None:
    run = gradmill(tmp_path, "specs=pytorch", "release=2.12")
    assert run.status == 3
    assert f"pytorch/version.txt names {VERSION} as the release of the spec set" in run.stderr


def test_a_checkout_whose_version_changes_is_looked_at_again(checkout: Path, tmp_path: Path) -> None:
    assert gradmill(tmp_path, "specs=pytorch").status == 0
    assert gradmill(tmp_path, "specs=pytorch").ran == []
    (checkout / "version.txt").write_text("99.0.0a0")
    assert gradmill(tmp_path, "specs=pytorch").status == 3
    (checkout / "version.txt").unlink()
    run = gradmill(tmp_path, "specs=pytorch")
    assert "does not name its PyTorch release" in run.stderr
