"""doit and gradmill in copies of a process which has loaded them already: a tenth of the time of a new one.

A copy has its own working folder, standard streams and end; nothing that it does comes back but what it wrote. What is
copied is a small process, which knows of nothing that a test has patched; or this one, which does.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

from doit.cmd_run import opt_outfile

ROOT = Path(__file__).resolve().parent.parent

# What every run imports sooner or later.
_LOADED = """
    doit.doit_cmd doit.cmd_list doit.cmd_run encodings.utf_8_sig argparse sqlite3 tomllib yaml
    gradmill.cpp.header gradmill.cli.commands.explain gradmill.cli.commands.list gradmill.cli.commands.show
    gradmill.cli.commands.command_line gradmill.cli.commands.run gradmill.session.session gradmill.session.selection
    gradmill.session.collect gradmill.session.places gradmill.session.sources
    gradmill.query.explain gradmill.query.database gradmill.store.sqlite gradmill.problems.formats
    gradmill.problems.causes
    gradmill.releases.names gradmill.reports.explain_text gradmill.rules.derivatives.info
    gradmill.lints.suspicion gradmill.rules.kernels.derivative gradmill.rules.matching.differentiability
    gradmill.rules.matching.inplace gradmill.rules.matching.naming gradmill.rules.matching.target
    gradmill.rules.native.entry gradmill.rules.native.generation gradmill.specs.values
    gradmill.stages.formulas.vocabulary gradmill.stages.manifest gradmill.stages.shard
""".split()


class Run(NamedTuple):
    """How a run ended, and what it wrote."""

    status: int
    stdout: str
    stderr: str

    def ok(self) -> Run:
        """The run, which must have succeeded."""
        assert self.status == 0, self.stdout + self.stderr
        return self

    def clean(self) -> Run:
        """The run, which must have succeeded without a warning."""
        assert (self.status, self.stderr) == (0, "")
        return self

    def failed(self, *texts: str, status: int | None = None) -> Run:
        """The run, which must have failed, with these texts in its report and without a traceback."""
        assert self.status == (status or self.status) != 0, self.stdout + self.stderr
        assert [text for text in texts if text not in self.stderr] == [], self.stderr
        assert "Traceback" not in self.stdout + self.stderr, self.stderr
        return self

    @property
    def ran(self) -> list[str]:
        """The tasks that were executed, in their order."""
        return tasks_in(self.stdout)

    @property
    def units(self) -> list[str]:
        """The units among them."""
        return [task.removeprefix("emit:") for task in self.ran if task.startswith("emit:")]

    @property
    def shards(self) -> list[str]:
        """The generated files among them."""
        return [task.removeprefix("shard:") for task in self.ran if task.startswith("shard:")]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The JSON objects that `gradmill show` printed."""
        return [json.loads(line) for line in self.ok().stdout.splitlines()]

    @property
    def rules(self) -> list[str]:
        """The rules of the problems that `check format=json` reports."""
        assert "Traceback" not in self.stderr, self.stderr
        return [problem["rule"] for problem in json.loads(self.stdout)["problems"]]


def tasks_in(out: str) -> list[str]:
    """The tasks that a run says it executed, with a line for each, or one a stage."""
    lines = [line[2:].strip() for line in out.splitlines() if line.startswith(".  ")]
    stages = [line.partition(": ") for line in lines]
    return [f"{stage}:{name}" if name else stage for stage, _, names in stages for name in names.split(", ")]


def doit(words: list[str], folder: Path = ROOT) -> Run:
    """`python -m doit`, for a folder with a dodo.py."""
    return _small("doit", words, folder)


def patched_gradmill(words: list[str], folder: Path = ROOT) -> Run:
    """`python -m gradmill`, with what this process has in the place of gradmill's own."""
    return forked(lambda: run_gradmill(words), ["gradmill", *words], folder)


def patched_doit(words: list[str], folder: Path = ROOT) -> Run:
    """doit, with the same."""
    return forked(lambda: run_doit(words), ["doit", *words], folder)


def gradmill(words: list[str], folder: Path = ROOT, **limits: int) -> Run:
    """`python -m gradmill`, in any folder, under limits of the system: `CPU`, `DATA`."""
    return _small("gradmill", words, folder, limits)


def _small(program: str, words: list[str], folder: Path, limits: dict[str, int] | None = None) -> Run:
    from small import small

    return small(os.getpid()).run(program, words, folder, limits)


def run_doit(words: list[str]) -> int:
    """Runs it in this process, once."""
    from doit.doit_cmd import DoitMain

    return int(DoitMain().run(words) or 0)


def run_gradmill(words: list[str]) -> int:
    """Runs it in this process, once."""
    from gradmill.cli.start.command import main

    return main(words)


def forked(work: Callable[[], int], words: list[str], folder: Path) -> Run:
    """Does `work` in a copy of this process, whose command line is `words`."""
    prepare()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if not process:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os._exit(child(work, words, folder))
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return Run(status, *texts)


@cache
def prepare() -> None:
    """Loads what runs load, and works out once what they all would: what is installed."""
    for name in _LOADED:
        import_module(name)
    inspect.getsourcelines(prepare)  # its regular expressions, which doit needs for every task
    _remember_plugins()


def _remember_plugins() -> None:
    from doit import plugin

    points = metadata.entry_points()
    plugin.entry_points_impl = lambda: points.select


def child(work: Callable[[], int], words: list[str], folder: Path) -> int:
    """What a copy of this process does, in its folder and with its command line: its status."""
    assert sys.__stdout__ is not None and sys.__stderr__ is not None
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # pytest has put its own in their place
    opt_outfile["default"] = sys.stdout
    try:
        os.chdir(folder)
        sys.argv = words
        return work()
    except SystemExit as stop:
        return int(stop.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
