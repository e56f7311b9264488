"""Files are written whole, however much of them the system takes at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradmill.io.files import moment, new_file, open_lock, put_file, remove_abandoned, replace_file

Write = Callable[[str, bytes], object]

PARTS = [b"%d," % number * (number % 5) for number in range(2500)]


def test_a_file_of_many_parts_and_one_of_none(tmp_path: Path) -> None:
    for parts in (PARTS, [], [b""]):
        replace_file(str(tmp_path / "folder" / "file"), *parts)
        assert (tmp_path / "folder" / "file").read_bytes() == b"".join(parts)
    assert os.listdir(tmp_path / "folder") == ["file"]


def test_a_folder_that_another_process_makes_meanwhile_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, open_ = tmp_path / "folder" / "file", os.open

    def late(*words: Any) -> int:
        try:
            return open_(*words)
        except FileNotFoundError:
            path.parent.mkdir()
            raise

    monkeypatch.setattr(os, "open", late)
    replace_file(str(path), b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("write", [replace_file, put_file])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_that_others_put_in_the_way_is_not_followed(tmp_path: Path, write: Write, there: bool) -> None:
    """Next to the file, under the name of this process; and in its place."""
    path, victim = tmp_path / "file", tmp_path / "victim"
    victim.write_text("of others")
    for name in (f"file.{os.getpid()}.tmp", *(["file"] if there else [])):
        (tmp_path / name).symlink_to(victim)
    write(str(path), b"new")
    assert (path.read_bytes(), path.is_symlink(), victim.read_text()) == (b"new", False, "of others")


@pytest.mark.parametrize("write", [replace_file, put_file])
def test_a_hard_link_keeps_its_contents(tmp_path: Path, write: Write) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    other.write_text("of others")
    os.link(other, path)
    write(str(path), b"new")
    assert (path.read_bytes(), other.read_text()) == (b"new", "of others")


@pytest.mark.parametrize("write", [replace_file, put_file])
def test_a_new_file_has_the_mode_that_the_process_gives_all_files(tmp_path: Path, write: Write) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o600)
    before = os.umask(0o027)
    try:
        write(str(path), b"new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_is_not_finished_is_removed_with_its_process_and_no_other_file(tmp_path: Path) -> None:
    ended = os.fork()
    if not ended:
        os._exit(0)
    os.waitpid(ended, 0)
    running, _ = new_file(str(tmp_path / "file"))
    killed = running.replace(f".{os.getpid()}.", f".{ended}.")
    stay = [
        running,
        f"{tmp_path}/file.{ended}.tmp",
        f"{tmp_path}/file.old.tmp",
        f"{tmp_path}/other.{ended}.{'0' * 16}.tmp",
    ]
    for path in (killed, *stay):
        Path(path).touch()
    os.symlink(tmp_path / "file", link := f"{killed[:-20]}{'0' * 16}.tmp")
    remove_abandoned(str(tmp_path), ["file"])
    assert sorted(os.listdir(tmp_path)) == sorted(map(os.path.basename, (*stay, link)))


def test_a_lock_that_is_a_link_is_not_created_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic"):
        open_lock(str(tmp_path / "lock"))
    assert not (tmp_path / "victim").exists()
    (tmp_path / "victim").touch()
    os.utime(tmp_path / "victim", (1, 1))
    moment(str(tmp_path / "lock"))
    assert (tmp_path / "victim").stat().st_mtime == 1
