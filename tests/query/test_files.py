"""Files are written whole, however much of them the system takes at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipeline.io.files import replace_file

PARTS = [b"%d," % number * (number % 5) for number in range(2500)]


@pytest.mark.parametrize("taken", [0, 1, 7, 100_000])
def test_a_file_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    """`taken`: so many bytes the system takes of what it is given."""
    write, path = os.write, tmp_path / "folder" / "file"
    monkeypatch.setattr(os, "writev", lambda handle, parts: write(handle, b"".join(parts)[:taken]))
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[: max(taken, 50)]))
    replace_file(str(path), *PARTS)
    assert path.read_bytes() == b"".join(PARTS)
    assert os.listdir(path.parent) == ["file"]


def test_a_file_of_many_parts_and_one_of_none(tmp_path: Path) -> None:
    for parts in (PARTS, [], [b""]):
        replace_file(str(tmp_path / "file"), *parts)
        assert (tmp_path / "file").read_bytes() == b"".join(parts)


def test_a_system_without_writev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "writev")
    replace_file(str(tmp_path / "file"), *PARTS)
    assert (tmp_path / "file").read_bytes() == b"".join(PARTS)
