"""A full disk, folders that cannot be written to, files that vanish: a clear error, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from project import ROOT, Project, Run, finish

from gradmill.specs.location import Location
from never_wrong.builds import Kept, clean_build

pytestmark = pytest.mark.slow  # disks of many sizes

# No file may grow beyond so many bytes: with few no file can be written, with some only the largest ones cannot, with
# many the store alone.
FILE_LIMITS = [0, 1_000, 20_000, 60_000, 100_000, 200_000, 600_000]
DISK_SIZES = [16_384, 131_072, 262_144, 524_288, 1_048_576, 1_572_864]

# What the system and SQLite say of a disk that takes no more.
FULL = ("File too large", "No space left on device", "disk is full", "disk I/O error")
READ_ONLY = ("Read-only file system", "readonly database")

_LIMITED = (
    "import resource, runpy, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n"
    "del sys.argv[:2]\n"
    "sys.argv.insert(0, 'gradmill')\n"
    "runpy.run_module('gradmill', run_name='__main__')\n"
)


def run_limited(project: Project, limit: int) -> Run:
    """A run in which writing a file beyond `limit` bytes fails."""
    words = [sys.executable, "-B", "-c", _LIMITED, str(limit), *project.words]
    return finish(subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))


def assert_names(run: Run, folder: Path, reasons: tuple[str, ...]) -> None:
    """One line of the run says which file in a folder it is about, and what is wrong with it."""
    lines = [line for line in run.stderr.splitlines() if str(folder) in line]
    assert any(reason in line for line in lines for reason in reasons), run.stderr


def assert_reported(
    project: Project, run: Run, folder: Path, reasons: tuple[str, ...], right: dict[str, bytes]
) -> None:
    """The run says which file could not be written; it failed, or made every generated file all the same."""
    assert "Traceback" not in run.stdout + run.stderr
    assert_names(run, folder, reasons)
    assert run.status or project.files() == right, run.stderr


def assert_whole(project: Project, *allowed: dict[str, bytes]) -> None:
    """Every generated file is one of those of an earlier or of a clean build, and nothing lies beside them."""
    for name, data in project.files().items():
        assert any(data == files.get(name) for files in allowed), f"{name} is half-written"


def assert_mended(project: Project, right: dict[str, bytes]) -> None:
    """Now that nothing is in the way, a run makes all, the next one nothing, and nothing is left over."""
    project.build()
    assert project.files() == right
    assert project.run().ran == []
    assert [path for folder in (project.cache, project.generated) for path in folder.rglob("*.tmp*")] == []


@pytest.fixture(scope="module")
def sound(small_built: Project) -> dict[str, bytes]:
    return small_built.files()


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
def test_a_write_that_fails_is_reported_and_leaves_nothing_half_written(
    project: Project, sound: dict[str, bytes], limit: int
) -> None:
    run = run_limited(project, limit)
    assert_reported(project, run, project.folder, FULL, sound)
    assert_whole(project, sound)
    assert_mended(project, sound)


def test_the_report_of_a_failed_write_says_that_other_files_may_be_new(
    project: Project, sound: dict[str, bytes]
) -> None:
    run = run_limited(project, 100_000)
    assert run.status and {} != project.files() != sound
    assert "\n  all files are complete, as before or new: the next run writes the others\n" in run.stderr
    assert_whole(project, sound)


@pytest.mark.parametrize("limit", FILE_LIMITS)
def test_a_write_that_fails_after_an_edit_leaves_the_old_files_or_the_new(built: Project, limit: int) -> None:
    before = built.files()
    built.set_formula("exp", "self", "grad * result.conj() * 2")
    after = built.clean_build()
    run = run_limited(built, limit)
    assert_reported(built, run, built.folder, FULL, after)
    assert_whole(built, before, after)
    assert_mended(built, after)


@pytest.mark.parametrize("size", DISK_SIZES)
def test_a_full_disk_is_reported_and_leaves_nothing_half_written(
    project: Project, disk: Path, sound: dict[str, bytes], size: int
) -> None:
    project.cache, project.generated = disk / "cache", disk / "generated"
    _remount(disk, f"size={size}")
    run = project.run()
    assert_reported(project, run, disk, FULL, sound)
    assert_whole(project, sound)
    _remount(disk, "size=64m")
    assert_mended(project, sound)


@pytest.mark.parametrize("reasons", [FULL, READ_ONLY], ids=["full", "read-only"])
def test_a_cache_that_cannot_be_written_to_does_not_spoil_a_later_edit(
    project: Project, disk: Path, reasons: tuple[str, ...]
) -> None:
    project.cache = disk / "cache"
    before = project.build().files()
    used = sum(path.stat().st_blocks * 512 for path in disk.rglob("*"))
    _remount(disk, f"size={used + 8192}" if reasons is FULL else "ro")
    project.set_formula("exp", "self", "grad * result.conj() * 2")
    after = project.clean_build()
    run = project.run()
    assert_reported(project, run, disk, reasons, after)
    assert_whole(project, before, after)
    _remount(disk, "size=64m" if reasons is FULL else "rw")
    assert_mended(project, after)


# ---- not to be written to


def test_a_read_only_cache_is_reported(project: Project, disk: Path, sound: dict[str, bytes]) -> None:
    project.cache = disk / "cache"
    _remount(disk, "ro")
    run = project.run()
    run.failed()
    assert_names(run, project.cache, READ_ONLY)
    assert (run.status, len(run.stderr.splitlines())) == (1, 2), run.stderr  # once, and what to do
    assert_whole(project, sound)
    _remount(disk, "rw")
    assert_mended(project, sound)


def test_a_read_only_cache_that_is_up_to_date_is_enough(project: Project, disk: Path, sound: dict[str, bytes]) -> None:
    project.cache = disk / "cache"
    project.build()
    _remount(disk, "ro")
    run = project.run()
    assert (run.status, run.ran, run.stderr) == (0, [], "")
    os.utime(project.path("derivatives.yaml"))  # as where it was written within a tick before the run
    run = project.run()
    assert (run.status, run.ran, run.stderr) == (0, [], "")
    assert project.files() == sound
    project.run("explain").clean()


def test_a_read_only_cache_that_is_damaged_is_reported(project: Project, disk: Path, sound: dict[str, bytes]) -> None:
    project.cache = disk / "cache"
    project.build()
    project.rows.write_bytes(project.rows.read_bytes()[:-5000])
    _remount(disk, "ro")
    run = project.run("check")
    assert (run.status, len(run.stderr.splitlines())) == (0, 1)
    assert run.stderr.startswith(f"{project.rows}: the store is damaged (")
    assert project.files() == sound


def test_a_read_only_folder_of_generated_files_is_reported_and_mended_later(
    project: Project, disk: Path, sound: dict[str, bytes]
) -> None:
    project.generated = disk / "generated"
    _remount(disk, "ro")
    run = project.run()
    run.failed()
    assert_names(run, project.generated, READ_ONLY)
    _remount(disk, "rw")
    assert_mended(project, sound)


@pytest.mark.parametrize("place", ["cache", "cache/set", "generated", "generated/Functions.h/x"])
def test_a_file_where_a_folder_is_expected_and_the_other_way_round_is_reported(
    project: Project, sound: dict[str, bytes], place: str
) -> None:
    path = project.folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("in the way")
    project.run().failed(str(project.folder / Path(*Path(place).parts[:2])))
    assert path.read_text() == "in the way"
    path.unlink()
    if path.parent.name == "Functions.h":
        path.parent.rmdir()
    assert_mended(project, sound)


# ---- vanishing


@pytest.mark.parametrize("name", ["Functions.h", "Functions.cpp", "python_functions.h", "python_functions.cpp"])
def test_a_template_that_vanishes_during_the_run_is_the_next_runs_business(
    project: Project, sound: dict[str, bytes], name: str
) -> None:
    path = project.path(f"templates/{name}")
    data = path.read_bytes()
    process = project.start()
    assert process.stdout is not None
    while not process.stdout.readline().startswith(".  emit:"):
        assert process.poll() is None
    path.unlink()
    finish(process).clean()
    assert project.files() == sound
    before = project.mtimes()
    project.run().failed(name)
    assert project.mtimes() == before
    path.write_bytes(data)
    assert_mended(project, sound)


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
