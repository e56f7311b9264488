"""The small process of which runs of doit and gradmill are copies: the one that runs the tests has loaded torch, and a
copy of that takes 10 ms more. For each run, a line of JSON in and one out.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import resource
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import forked
from never_wrong.specset import make_tiny
from server import Server

from gradmill.io.files import read_file, stat_of
from gradmill.session import bytecode, own_code

RUNS = {"doit": forked.run_doit, "gradmill": forked.run_gradmill}


class Small(Server):
    """The process, for who asks."""

    module = (__file__,)

    def run(self, program: str, words: list[str], folder: Path, limits: dict[str, int] | None = None) -> forked.Run:
        """Runs doit or gradmill in a folder, with the environment and the path of modules that this process has now.
        `limits`: of the system, by the names that `resource` has for them, without RLIMIT_."""
        return forked.Run(*self.ask(program, words, str(folder), dict(os.environ), self._path(), limits or {}))

    def _path(self) -> list[str]:
        return sys.path

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(forked.ROOT / "pipeline"),
        }  # the gradmill of these tests, whichever is installed


class Installed(Small):
    """The same with the gradmill of a virtual environment."""

    def __init__(self, python: Path) -> None:
        self.python = str(python)

    def _path(self) -> list[str]:
        return []  # its own

    def _environment(self) -> dict[str, str]:
        return dict(os.environ)


@cache
def small(process: int) -> Small:
    """The small process of a process, by its number: a copy of this one needs another."""
    started = Small().__enter__()
    atexit.register(started.__exit__)
    return started


def _serve() -> None:
    forked.prepare()
    with TemporaryDirectory() as folder:
        _run_first(Path(folder))
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_ended(*json.loads(line))), flush=True)


def _run_first(folder: Path) -> None:
    """Runs what most tests run, so that copies have the modules, the patterns and the tables that a first run makes."""
    formulas = make_tiny(folder / "set") / "derivatives.yaml"
    text = formulas.read_text()
    variables = [f"{name}={folder / name}" for name in ("cache", "generated")]

    def run(*words: str) -> None:
        sys.argv = ["gradmill", *words, f"specs={formulas.parent}", *variables]
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())) as out, redirect_stderr(out):
            forked.run_gradmill(sys.argv[1:])

    read = cache(read_file)  # a run reads all files of gradmill; that none changed, it sees by their stats
    vars(bytecode)["read_file"] = read
    vars(own_code)["read_with_stat"] = lambda path: (read(path), stat_of(path))
    run()
    formulas.write_text(text.replace("result.conj()", "result"))
    run()
    formulas.write_text(text.replace("result.conj()", "reslt + slef"))
    run()
    for words in (["check"], ["explain", "exp"], ["show", "match", "exp"], ["list"], ["coverage"], ["page"]):
        run(*words)


def _ended(
    program: str, words: list[str], folder: str, environment: dict[str, str], path: list[str], limits: dict[str, int]
) -> forked.Run:
    def work() -> int:
        for name, limit in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path or sys.path
        return RUNS[program](words)

    return forked.forked(work, [program, *words], Path(folder))


if __name__ == "__main__":
    _serve()
