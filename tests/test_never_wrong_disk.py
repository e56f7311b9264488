"""A full disk, folders that cannot be written to, files that vanish: a clear error, and nothing half-written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from never_wrong.builds import Kept, clean_build
from project import CORE, ROOT, Project, Run, finish

from pipeline.specs.spec_set import Location

VERSION = (CORE / "RELEASE").read_text().strip()

# No file may grow beyond so many bytes: small ones fail at the first artifact, large ones at the last file.
FILE_LIMITS = [0, 1_000, 20_000, 60_000, 100_000, 200_000]
DISK_SIZES = [16_384, 131_072, 262_144, 524_288, 786_432, 1_048_576]

_LIMITED = (
    "import resource, runpy, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n"
    "del sys.argv[:2]\n"
    "sys.argv.insert(0, 'doit')\n"
    "runpy.run_module('doit', run_name='__main__')\n"
)


def run_limited(project: Project, limit: int) -> Run:
    """A run in which writing a file beyond `limit` bytes fails."""
    values = {"specs": project.specs, "generated": project.generated, "cache": project.cache}
    words = [sys.executable, "-B", "-c", _LIMITED, str(limit), *(f"{name}={value}" for name, value in values.items())]
    return finish(subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))


def assert_clear(run: Run, *said: str) -> None:
    """The run failed, and said why."""
    assert run.status in (1, 2)
    assert "Traceback" not in run.stdout + run.stderr
    for text in said:
        assert text in run.stderr


def assert_whole(project: Project, *allowed: dict[str, bytes]) -> None:
    """Every generated file is one of those of an earlier or of a clean build, and nothing lies beside them."""
    for name, data in project.files().items():
        assert any(data == files.get(name) for files in allowed), f"{name} is half-written"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return Project(tmp_path_factory.mktemp("sound"), CORE, VERSION).build().files()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that can be made small or read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting takes root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


# ---- full


@pytest.mark.parametrize("limit", FILE_LIMITS)
def test_a_write_that_fails_is_told_and_leaves_nothing_half_written(
    project: Project, sound: dict[str, bytes], limit: int
) -> None:
    run = run_limited(project, limit)
    assert_clear(run, "File too large")
    assert_whole(project, sound)
    project.build()
    assert project.files() == sound


@pytest.mark.parametrize("limit", FILE_LIMITS)
def test_a_write_that_fails_after_an_edit_leaves_the_old_files_or_the_new(built: Project, limit: int) -> None:
    before = built.files()
    built.set_formula("exp", "self", "grad * result.conj() * 2")
    after = built.clean_build()
    run = run_limited(built, limit)
    assert "Traceback" not in run.stdout + run.stderr
    assert_whole(built, before, after)
    built.build()
    assert built.files() == after


@pytest.mark.parametrize("size", DISK_SIZES)
def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    tmp_path: Path, disk: Path, sound: dict[str, bytes], size: int
) -> None:
    project = Project(tmp_path, CORE, VERSION)
    project.cache, project.generated = disk / "cache", disk / "generated"
    _remount(disk, f"size={size}")
    run = project.run()
    assert_clear(run, "No space left on device")
    assert_whole(project, sound)
    _remount(disk, "size=64m")
    project.build()
    assert project.files() == sound


def test_a_cache_on_a_full_disk_does_not_spoil_a_later_edit(
    tmp_path: Path, disk: Path, sound: dict[str, bytes]
) -> None:
    project = Project(tmp_path, CORE, VERSION)
    project.cache = disk / "cache"
    project.build()
    used = sum(path.stat().st_blocks * 512 for path in disk.rglob("*"))
    _remount(disk, f"size={used + 8192}")
    project.set_formula("exp", "self", "grad * result.conj() * 2")
    run = project.run()
    assert "Traceback" not in run.stdout + run.stderr
    _remount(disk, "size=64m")
    project.build()
    assert project.files() == project.clean_build()


# ---- not to be written to


def test_a_read_only_cache_is_told(tmp_path: Path, disk: Path) -> None:
    project = Project(tmp_path, CORE, VERSION)
    project.cache = disk / "cache"
    _remount(disk, "ro")
    assert_clear(project.run(), str(project.cache), "Read-only file system")
    assert project.files() == {}


def test_a_read_only_cache_that_is_up_to_date_is_enough(tmp_path: Path, disk: Path, sound: dict[str, bytes]) -> None:
    project = Project(tmp_path, CORE, VERSION)
    project.cache = disk / "cache"
    project.build()
    _remount(disk, "ro")
    run = project.run()
    assert (run.status, run.ran) == (0, [])
    assert project.files() == sound


def test_a_read_only_folder_of_generated_files_is_told_and_mended_later(
    tmp_path: Path, disk: Path, sound: dict[str, bytes]
) -> None:
    project = Project(tmp_path, CORE, VERSION)
    project.generated = disk / "generated"
    _remount(disk, "ro")
    assert_clear(project.run(), str(project.generated), "Read-only file system")
    _remount(disk, "rw")
    project.build()
    assert project.files() == sound


@pytest.mark.parametrize("place", ["cache", "generated", "cache/objects", "cache/set", "generated/Functions.h/x"])
def test_a_file_where_a_folder_is_expected_and_the_other_way_round_is_told(
    project: Project, sound: dict[str, bytes], place: str
) -> None:
    path = project.cache.parent / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("in the way")
    assert_clear(project.run(), str(project.cache.parent / Path(*Path(place).parts[:2])))
    path.unlink()
    if path.parent.name == "Functions.h":
        path.parent.rmdir()
    project.build()
    assert project.files() == sound


# ---- vanishing


@pytest.mark.parametrize("name", ["Functions.h", "Functions.cpp", "python_functions.h", "python_functions.cpp"])
def test_a_template_that_vanishes_during_the_run_is_told_and_mended_later(
    project: Project, sound: dict[str, bytes], name: str
) -> None:
    path = project.path(f"templates/{name}")
    data = path.read_bytes()
    process = project.start()
    assert process.stdout is not None
    while not process.stdout.readline().startswith(".  emit:"):
        pass
    path.unlink()
    assert_clear(finish(process), str(path), "No such file or directory")
    assert_whole(project, sound)
    path.write_bytes(data)
    project.build()
    assert project.files() == sound


@pytest.mark.parametrize("name", ["native_functions.yaml", "derivatives.yaml", "tags.yaml", "templates/Functions.h"])
def test_a_file_of_the_set_that_is_gone_is_told_and_no_file_moves(built: Project, name: str) -> None:
    before = built.mtimes()
    built.append("templates/python_functions.h", "// The end.")
    built.path(name).unlink()
    run = built.run()
    assert run.status
    assert "Traceback" not in run.stderr
    assert Path(name).name in run.stderr
    assert built.mtimes() == before


def test_a_wrong_template_moves_no_file(built: Project) -> None:
    before = built.mtimes()
    built.append("templates/Functions.h", "// The end.")
    built.append("templates/python_functions.cpp", "${no_such_hole}")
    run = built.run()
    assert_clear(run, "python_functions.cpp", "no_such_hole")
    assert built.mtimes() == before


def test_a_template_that_changes_while_it_is_read_and_back_leaves_no_wrong_file(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(project.specs, tmp_path / "kept")
    kept.update()
    path, read = project.path("templates/Functions.h"), Location.read
    data = path.read_bytes() + b"// first\n"
    path.write_bytes(data)

    def read_another(location: Location) -> bytes:
        if location.path != str(path):
            return read(location)
        path.write_bytes(data + b"// second\n")
        try:
            return read(location)
        finally:
            path.write_bytes(data)

    with monkeypatch.context() as patch:
        patch.setattr(Location, "read", read_another)
        kept.update()
    kept.reopen()
    assert kept.update() == clean_build(project.specs, tmp_path / "clean")
