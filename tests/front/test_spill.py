"""Bytes that are kept in an unnamed file: those of pages, until it is known that all can be written."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from pipeline.io.spill import Spill


def test_what_was_kept_is_read_in_any_order_and_leaves_no_file(tmp_path: Path) -> None:
    spill = Spill(str(tmp_path))
    kept = {f"{number}.html": bytes([number]) * number for number in range(50)}
    for name, data in kept.items():
        spill.keep(name, data)
        assert spill.take("7.html") == (kept["7.html"] if int(name[:-5]) >= 7 else None)
    assert {name: spill.take(name) for name in reversed(kept)} == kept
    assert list(tmp_path.iterdir()) == []
    spill.close()
    assert spill.take("7.html") is None


def test_it_takes_no_memory(tmp_path: Path) -> None:
    spill = Spill(str(tmp_path))
    spill.keep("", b"")
    tracemalloc.start()
    for number in range(64):
        spill.keep(str(number), bytes(1 << 18))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    spill.close()
    assert peak < 1 << 20


def test_a_folder_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        Spill(str(tmp_path / "missing")).keep("a", b"b")


def test_bytes_that_cannot_be_written_are_not_there(tmp_path: Path) -> None:
    spill = Spill(str(tmp_path / "missing"))
    with pytest.raises(OSError):
        spill.keep("a", b"1")
    assert spill.take("a") is None
    spill = Spill(str(tmp_path))
    spill.keep("a", b"1")
    assert spill.take("a") == b"1"
    assert spill._file is not None
    os.dup2(os.open(os.devnull, os.O_RDONLY), spill._file.fileno())  # no more can be written
    with pytest.raises(OSError):
        spill.keep("b", b"2")
    assert spill.take("b") is None
