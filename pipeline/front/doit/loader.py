"""Opens the build for a command line, and loads its tasks, as doit has them, with or without a dodo.py."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TextIO

from doit import create_after
from doit.cmd_base import NamespaceTaskLoader
from doit.exceptions import InvalidCommand, InvalidDodoFile
from doit.loader import TASK_STRING, generate_tasks
from doit.task import Task

from pipeline.front.run.build import READS, Build, Mode
from pipeline.front.run.own_code import RUN_AGAIN, CodeChanged
from pipeline.front.settings.config import Config, read_config
from pipeline.front.settings.reader import Settings, read_settings
from pipeline.problems.plain import message_of
from pipeline.problems.problem import SpecError

MISUSED = 3  # doit's exit status for an invalid command line


def with_settings(variables: Mapping[str, str], *, quiet: bool = True, finds_set: bool = True) -> Settings:
    """The variables of a command line, with the other settings; a line on standard error reports a set that was found,
    unless `quiet`. Raises InvalidDodoFile if a settings file is wrong, or if it is not clear which set is meant."""
    try:
        found = read_settings(variables, finds_set=finds_set)
    except SpecError as error:
        _report(error, variables.get("format", "text"), sys.stderr)
        raise InvalidDodoFile(message_of(error)) from None
    if not quiet:
        sys.stderr.write(found.notice)
    return found


def open_build(
    variables: Mapping[str, str],
    make: Callable[[Config], Build] = Build,
    *,
    stream: TextIO | None = None,
    options: Mapping[str, str] | None = None,
) -> Build:
    """The build for the variables of a command line. Raises InvalidDodoFile, which doit prints, if they are wrong. If
    `format` is not text, errors in a set's description are reported on `stream` instead, by default standard error.
    `options`: those that the command takes in place of variables."""
    try:
        config = read_config(variables, options)
    except SpecError as error:
        _report(error, variables.get("format", "text"), stream or sys.stderr)
        raise InvalidDodoFile(message_of(error)) from None
    sys.stderr.write(config.release_warning)
    return make(config)


def _report(error: SpecError, format_: str, stream: TextIO) -> None:
    """Reports errors that have places and ends the process, unless the format is text."""
    placed = getattr(error, "placed", ())
    if not placed or format_ == "text":
        return
    from pipeline.problems.formats import FORMATS, written
    from pipeline.problems.report import Report

    if format_ in FORMATS:
        stream.write(written(format_, Report(tuple(placed), len(placed), 0)))
        stream.flush()
        raise SystemExit(MISUSED)


@contextmanager
def without_traceback() -> Iterator[None]:
    """Reports CodeChanged and SpecError as InvalidCommand, which doit prints without a traceback. Not for the checks of
    tasks: `IsCurrent` leaves these to the action."""
    try:
        yield
    except SpecError as error:
        raise InvalidCommand(message_of(error)) from None
    except CodeChanged:
        raise InvalidCommand(RUN_AGAIN) from None


def namespace(build: Build) -> dict[str, Any]:
    """The names that doit looks up in a dodo.py: task creators, DOIT_CONFIG, and TASKS for gradmill's commands."""
    from pipeline.front.doit.backend import OTHERS, Codec
    from pipeline.front.doit.reporter import reporter_for
    from pipeline.front.doit.tasks import Tasks

    tasks = Tasks(build)

    def task_stages() -> Iterator[dict[str, Any]]:
        with without_traceback():
            yield from tasks.stages()

    @create_after(executed="match")  # type: ignore[untyped-decorator]
    def task_emit() -> Iterator[dict[str, Any]]:
        """print the C++ of each unit"""
        with without_traceback():
            yield from tasks.units()

    @create_after(executed="emit")  # type: ignore[untyped-decorator]
    def task_shard() -> Iterator[dict[str, Any]]:
        """assemble each generated file"""
        with without_traceback():
            yield from tasks.files()

    @create_after(executed="match")  # type: ignore[untyped-decorator]
    def task_manifest() -> dict[str, Any] | None:
        """describe the generated files and their inputs for other build systems"""
        with without_traceback():
            return tasks.manifest()

    return {
        "TASKS": tasks,
        "DOIT_CONFIG": {
            "backend": "gradmill",
            "codec_cls": Codec,
            "default_tasks": [*build.stages.analysis, "emit", "shard", "manifest"],
            "dep_file": build.paths.notes + OTHERS,
            "reporter": reporter_for(tasks),
            "verbosity": 2,
        },
        "task_stages": task_stages,
        "task_emit": task_emit,
        "task_shard": task_shard,
        "task_manifest": task_manifest,
    }


class PackageLoader(NamespaceTaskLoader):  # type: ignore[misc]
    """Loads gradmill's tasks without a dodo.py. `variables` returns those of the command line; `options`: those that it
    takes in place of variables."""

    def __init__(self, variables: Callable[[], Mapping[str, str]], options: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._variables = variables
        self._options = options
        self.build: Build | None = None  # set by `setup`

    def setup(self, opt_values: Any) -> None:
        self.build = self.open()
        self.namespace = namespace(self.build)

    def open(self, mode: Mode = READS) -> Build:
        """The build. InvalidDodoFile as in `open_build`."""
        variables = self._variables()
        if self._options is None:  # else the arguments of a script are all
            variables = with_settings(variables, quiet=False)
        return open_build(variables, partial(Build, mode=mode), options=self._options)

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Any]:
        """The same tasks as doit's own loader, which also parses the source of each creator to order them."""
        tasks: list[Any] = []
        for name, creator in self.namespace.items():
            if not name.startswith(TASK_STRING):
                continue
            task, later = name.removeprefix(TASK_STRING), getattr(creator, "doit_create_after", None)
            if later and cmd.execute_tasks:
                tasks.append(Task(task, None, loader=later, doc=creator.__doc__))
            else:
                tasks += generate_tasks(task, creator(), creator.__doc__)
        return tasks
