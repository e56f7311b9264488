"""Ctrl-C ends a run, a start and a process without a traceback, and what is there is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from project import ROOT, Project, assert_clean, elsewhere, finish

SLOW = pytest.mark.slow


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["one process", "two processes"])
@pytest.mark.parametrize("line", [1, pytest.param(3, marks=SLOW), 7, pytest.param(8, marks=SLOW)])
@pytest.mark.parametrize("command", ["doit", "gradmill"])
def test_ctrl_c_ends_a_run_without_a_traceback(
    core_project: Project, command: str, line: int, words: list[str]
) -> None:
    values = [f"{name}={getattr(core_project, name)}" for name in ("specs", "cache", "generated")]
    start = ["pipeline", "run", "-v2"] if command == "gradmill" else ["doit", "run", "-f", ROOT / "dodo.py"]
    process = elsewhere("-m", *start, *words, *values, cwd=core_project.folder, group=True)
    assert process.stdout is not None
    for _ in range(line):
        process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    ended = finish(process)
    assert "Traceback" not in ended.stderr + ended.stdout, ended.stderr[-2000:]
    assert ended.status != 0 or ended.ran[-1:] == ["manifest"]
    again = core_project.run()
    assert again.status == 0
    assert_clean(core_project)


@pytest.mark.parametrize("at", ["util._close_stdin", "util._exit_function", "process.BaseProcess.start"])
def test_ctrl_c_while_a_worker_begins_or_ends_is_neither_a_traceback_nor_a_wait(project: Project, at: str) -> None:
    """A worker sends it to all, as a terminal does; the first to start one sends it to itself."""
    program = f"""
import os, signal
from multiprocessing import process, util
from pipeline.front.start.command import run
own, work = os.getpid(), {at}
def interrupt(*words):
    if os.getpid() != own:
        os.killpg(0, signal.SIGINT)
    work(*words)
    if work.__name__ == "start":
        os.kill(own, signal.SIGINT)
{at} = interrupt
run()
"""
    values = [f"{name}={getattr(project, name)}" for name in ("specs", "cache", "generated")]
    process = elsewhere("-c", program, "-n", "2", *values, cwd=project.folder, group=True)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert "Traceback" not in err + out, err[-2000:]
    assert err in ("interrupted: all written files are complete\n", "")  # two workers send it: the second ends all
    assert process.returncode == -signal.SIGINT


def test_ctrl_c_ends_a_worker_however_soon_after_its_fork() -> None:
    """Python forgets a signal that comes before it runs a new process: such a worker waited for tasks for ever."""
    program = """
import os, signal, time
from pipeline.front.doit.workers import workers
ended = []
with workers():
    for number in range(200):
        child = os.fork()
        if not child:
            time.sleep(0.2)
            os._exit(0)
        until = time.perf_counter_ns() + 5_000 * number
        while time.perf_counter_ns() < until:
            pass
        os.kill(child, signal.SIGINT)
        ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print({*ended})
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{{{-signal.SIGINT}}}\n", "")


def test_a_worker_ends_if_its_run_is_killed(project: Project) -> None:
    """A worker that waits has the output of the run open: it ends as soon as the worker does."""
    program = """
import os, signal
from multiprocessing import process
from pipeline.front.start.command import run
start = process.BaseProcess.start
def kill(worker):
    start(worker)
    os.kill(os.getpid(), signal.SIGKILL)
process.BaseProcess.start = kill
run()
"""
    values = [f"{name}={getattr(project, name)}" for name in ("specs", "cache", "generated")]
    process = elsewhere("-c", program, "-n", "2", *values, cwd=project.folder, group=True)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, err) == (-signal.SIGKILL, "")


def test_a_run_fails_if_a_worker_is_killed(project: Project) -> None:
    """As where memory is short."""
    program = """
import os, signal
from doit.runner import MRunner
from pipeline.front.start.command import run
MRunner.execute_task_subprocess = lambda *words: os.kill(os.getpid(), signal.SIGKILL)
run()
"""
    values = [f"{name}={getattr(project, name)}" for name in ("specs", "cache", "generated")]
    process = elsewhere("-c", program, "-n", "2", *values, cwd=project.folder, group=True)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, err) == (3, "ERROR: a worker process was killed by signal 9\n  run again\n")


def test_ctrl_c_in_a_callback_ends_the_process_without_a_traceback() -> None:
    """As right after a fork: Python would say that it is ignored."""
    program = """
from pipeline.front.start.main import prepare
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


def test_ctrl_c_while_doit_is_loaded_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pipeline.front.start import command, lazy

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lazy, "import_lazily", interrupted)
    assert command.main([]) == 130
    assert capsys.readouterr() == ("", "interrupted: all written files are complete\n")
