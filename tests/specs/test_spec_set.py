"""Where the inputs of a spec set come from, and what is refused there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest
from project import CORE, Project, files_in, is_plain

from gradmill.families.rows import TEMPLATES
from gradmill.releases import agreed_version
from gradmill.specs.find import find_spec_set
from gradmill.specs.location import Location
from gradmill.specs.spec_set import SpecSet
from gradmill.specs.text import MAX_BYTES

RELEASE = (CORE / "RELEASE").read_text().strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the core spec set."""
    return Path(shutil.copytree(CORE, tmp_path / "set"))


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return write_wheel(tmp_path / "torch-2.13.0-cp311.whl", CORE)


def write_wheel(path: Path, specs: Path) -> Path:
    """A wheel of a torch that has nothing but a spec set."""
    with ZipFile(path, "w") as archive:
        archive.writestr("torch/version.py", f"__version__ = '{RELEASE}'\n")
        places = {"native_functions": "ATen/native", "tags": "ATen/native", "derivatives": "autograd"}
        for name, place in places.items():
            archive.write(specs / f"{name}.yaml", f"torchgen/packaged/{place}/{name}.yaml")
        for name in files_in(specs / "templates"):
            archive.write(specs / "templates" / name, f"torchgen/packaged/autograd/templates/{name}")
    return path


def encrypt(path: Path) -> None:
    """Marks all members as encrypted, in both of the places where a zip file says so."""
    data = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = data.find(mark)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(mark, at + 1)
    path.write_bytes(data)


def native(specs: SpecSet) -> Location:
    return specs.files["native"]


def test_a_member_of_a_wheel_is_read(wheel: Path) -> None:
    specs = find_spec_set(str(wheel), TEMPLATES)
    assert specs.version == "2.13.0"
    assert native(specs).read() == (CORE / "native_functions.yaml").read_bytes()


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="1099511627776 bytes"):
        Location(str(tmp_path / "large")).read()


def test_a_member_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.zip", "w", 8) as archive:
        archive.writestr("large", bytes(MAX_BYTES + 1))
    with pytest.raises(OSError, match=f"{MAX_BYTES + 1} bytes"):
        Location(str(tmp_path / "a.zip"), "large").read()


def test_a_member_that_is_missing_is_a_key_error(wheel: Path) -> None:
    with pytest.raises(KeyError):
        Location(str(wheel), "nowhere").read()


def test_a_release_that_is_a_pipe_is_none(folder: Path) -> None:
    (folder / "RELEASE").unlink()
    os.mkfifo(folder / "RELEASE")
    assert find_spec_set(str(folder), TEMPLATES).version == ""


@pytest.mark.parametrize(
    ("requested", "own", "version"),
    [
        ("2.13", "", "2.13"),
        ("", "2.13.0", "2.13.0"),
        ("2.13.1", "2.13.0", "2.13.1"),
        ("2.13", "2.13.0+cpu", "2.13"),
        ("", "", ""),
    ],
)
def test_the_requested_release_and_that_of_the_set_agree(requested: str, own: str, version: str) -> None:
    assert agreed_version(requested, own, "set/RELEASE") == version


def test_release_is_that_of_the_release_file_or_refused(built: Project) -> None:
    run = built.run(release="2.9.1")
    assert (run.status != 0, is_plain(run)) == (True, True)
    assert f"release=2.9.1, but {built.specs / 'RELEASE'} names {RELEASE} as the release of the spec set" in run.stderr
    assert built.run(release=RELEASE).ran == []


@pytest.mark.parametrize("text", [f"{RELEASE}\n2.9.1\n", f"{RELEASE}\n# of last week\n", "\n\n2.9.1\nx"])
def test_a_release_file_of_several_lines_is_refused(built: Project, text: str) -> None:
    (built.specs / "RELEASE").write_text(text)
    for words in ((), ("show", "specs"), ("explain",)):
        run = built.run(*words)
        assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
        assert "RELEASE" in run.stderr


def test_no_command_takes_an_encrypted_wheel(project: Project) -> None:
    wheel = write_wheel(project.folder / "torch-2.13.0-py3-none-any.whl", project.specs)
    assert project.run(specs=wheel).status == 0
    encrypt(wheel)
    for words in ((), ("show", "specs"), ("explain",)):
        run = project.run(*words, specs=wheel)
        assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
        assert "encrypted" in run.stderr


@pytest.mark.parametrize("what", ["fifo", "zero", "folder"])
@pytest.mark.parametrize("name", ["derivatives.yaml", "native_functions.yaml", "tags.yaml", "templates/Functions.h"])
def test_what_is_no_file_is_refused_as_a_spec(built: Project, name: str, what: str) -> None:
    files = built.files()
    path = built.specs / name
    path.unlink()
    if what == "fifo":
        os.mkfifo(path)
    elif what == "zero":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    run = built.run().failed()
    assert path.name in run.stderr
    assert built.files() == files
