"""Ctrl-C ends a run, a start and a process without a traceback, and what is there is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT, Project, assert_clean, elsewhere, finish


@pytest.mark.slow(2)
@pytest.mark.parametrize("line", [1, 3, 7, 8])
@pytest.mark.parametrize("command", ["doit", "gradmill"])
def test_ctrl_c_ends_a_run_without_a_traceback(core_project: Project, command: str, line: int) -> None:
    start = ["gradmill", "run", "-v"] if command == "gradmill" else ["doit", "run", "-f", ROOT / "dodo.py"]
    process = elsewhere("-m", *start, *core_project.words, cwd=core_project.folder, group=True)
    assert process.stdout is not None
    for _ in range(line):
        process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    ended = finish(process)
    assert "Traceback" not in ended.stderr + ended.stdout, ended.stderr[-2000:]
    assert ended.status != 0 or ended.ran[-1:] == ["manifest"]
    core_project.run().ok()
    assert_clean(core_project)


def test_ctrl_c_in_a_callback_ends_the_process_without_a_traceback() -> None:
    """As right after a fork: Python would say that it is ignored."""
    program = """
from gradmill.cli.start.command import prepare
prepare()
class Late:
    def __del__(self):
        raise KeyboardInterrupt
Late()
print("went on")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")
    assert done.stderr == "interrupted: all written files are complete\n"


def test_a_reader_that_closes_the_pipe_ends_a_run_silently(tiny: Project) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "gradmill", "list", *tiny.words]
    done = subprocess.run(command, cwd=tiny.folder, check=False, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_ctrl_c_while_modules_are_loaded_ends_quietly(tmp_path: Path) -> None:
    program = """
from gradmill.cli.start import command
def interrupted():
    raise KeyboardInterrupt
command._import_msgspec = interrupted
command.main([])
print("went on")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")
    assert done.stderr == "interrupted: all written files are complete\n"
