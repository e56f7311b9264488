"""Two runs on one cache: one waits for the other, and reports what it waits for; a killed one holds nothing up."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from project import Project, finish

from gradmill.io.files import TICK
from gradmill.session import record
from gradmill.session.record import Lock


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process has the lock."""
    begun, ended = os.pipe(), os.pipe()
    process = os.fork()
    if not process:
        fcntl.lockf(os.open(path, os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
        os.write(begun[1], b"x")
        os.close(ended[1])
        os.read(ended[0], 1)
        os._exit(0)
    os.close(ended[0])
    os.read(begun[0], 1)
    try:
        yield
    finally:
        os.close(ended[1])
        os.waitpid(process, 0)


def test_a_run_waits_for_another_one_and_is_right(built: Project) -> None:
    path = built.rows.parent / "lock"
    built.set_formula("exp", "self", "grad * result.conj() * 2")
    with held(path):
        process = built.start()
        assert process.stderr is not None
        assert process.stderr.readline() == f"waiting for another run, which has locked {path}\n"
        assert process.poll() is None
    finish(process).clean()
    assert built.files() == built.clean_build()
    assert built.run().ran == []


def test_a_repeated_run_with_nothing_to_do_and_one_that_only_looks_wait_for_none(built: Project) -> None:
    for _ in range(2):  # the second one proves to the next that nothing changed
        built.gradmill().clean()
        time.sleep(1.2 * TICK / 1e9)
    with held(built.rows.parent / "lock"):
        built.gradmill().clean()
        built.set_formula("exp", "self", "grad * result.conj() * 2")
        for words in (["list"], ["explain"], ["check"]):
            run = built.run(*words)
            assert (run.status, run.stderr) == (0, ""), words


def test_a_run_waits_for_a_while_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LIMIT", 0.05)
    message: list[str] = []
    path = tmp_path / "lock"
    with held(path):
        assert Lock(str(path)).take(message.append)
    assert message == [
        f"waiting for another run, which has locked {path}\n",
        f"{path} is still locked after 0 s: going on without it\n",
    ]
    assert not Lock(str(path)).take(message.append), "a process that ended holds nothing"


def test_a_file_system_without_locks_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: int, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    assert not Lock(str(tmp_path / "lock")).take(pytest.fail)
    (tmp_path / "file").write_text("")
    assert not Lock(str(tmp_path / "file" / "lock")).take(pytest.fail)
