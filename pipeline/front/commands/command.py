"""The base of gradmill's commands: reads the variables, opens one build, reports errors without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TextIO

from doit.cmd_base import Command
from doit.exceptions import InvalidCommand

from pipeline.front.commands.bases import Options
from pipeline.front.console import Progress, print_report
from pipeline.front.doit.loader import open_build, with_settings, without_traceback
from pipeline.front.run.build import READS, Build
from pipeline.front.run.claims import check_cache
from pipeline.front.run.problems import Problems
from pipeline.front.run.roots import Root
from pipeline.front.settings.command_line import known_variables
from pipeline.front.settings.config import NO_FIX, NO_FIX_HINT
from pipeline.front.settings.reader import Settings
from pipeline.problems.plain import line, reason
from pipeline.problems.problem import SpecError
from pipeline.query.memo import Name

INTERRUPTED = 130


class Failed(Exception):
    """The specs have errors. `report` is their text, written in `format_`."""

    def __init__(self, report: str, format_: str) -> None:
        super().__init__(report)
        self.report = report
        self.format = format_


class BuildCommand(Options, Command):  # type: ignore[misc]
    """A doit command that needs a build but no tasks. Subclasses implement `work`."""

    of_set = True  # whether it works only on the set's own folder in the cache
    names_set = True  # whether its result depends on the set
    mode = READS
    build: Build  # that it works on, set by `execute`

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        if self.names_set:
            with_settings(known_variables(), quiet=False)
        try:
            with without_traceback(), closing(self.open()) as self.build:
                if self.of_set and not self.build.nothing_changed:
                    check_cache(self.build.config)
                if self.build.config.fix and self.name != "check":
                    raise SpecError(NO_FIX, NO_FIX_HINT)
                return self.work(opt_values, pos_args)
        except Failed as failed:
            print_report(failed.report, failed.format)
            return 1
        except OSError as error:
            raise InvalidCommand(reason(error)) from None
        except KeyboardInterrupt:
            sys.stderr.write("interrupted: all written files are complete\n")
            return INTERRUPTED

    def open(self) -> Build:
        """The build that the command works on; `execute` closes it."""
        return open_build(self.variables(), partial(Build, mode=self.mode), stream=self.stream())

    def stream(self) -> TextIO:
        """The stream for problem reports."""
        return sys.stderr

    def variables(self) -> Settings:
        """The settings of the command; with the set around this folder, if it works on one and they name none."""
        return with_settings(known_variables(), finds_set=self.names_set)

    def expect_none(self, arguments: list[str], usage: str) -> None:
        """Raises InvalidCommand if there are words that are neither variables nor options; `usage` is the hint."""
        if arguments:
            problem = line(f"{self.name}: '{arguments[0]}' is not expected here")
            raise InvalidCommand(f"{problem}\n  write {usage}")

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Does the command; returns the exit status. A SpecError or OSError is reported as an invalid command."""
        raise NotImplementedError


def check(build: Build, roots: Iterable[Root]) -> None:
    """Brings queries up to date. Raises Failed if they have errors, CodeChanged if gradmill's code changed."""
    roots = list(roots)
    _update(build, roots)
    build.inputs.code.check()
    fail_for(build, build.problems_of(roots))


def fail_for(build: Build, problems: Problems) -> None:
    """Raises Failed if any of these problems is an error."""
    if problems.failed:
        raise Failed(problems.report, build.config.format)


def _update(build: Build, roots: Sequence[Root]) -> None:
    """Brings queries up to date, stage by stage; a terminal shows the current one."""
    progress = Progress(sys.stderr)
    for query, *args in (*_before(build, roots), *roots) if progress.on else roots:
        progress.show(_stage(query))
        build.db.digest(query, *args)
    progress.clear()


def _before(build: Build, roots: Sequence[Root]) -> list[Root]:
    """The root queries of the stages that `roots` depend on, in order."""
    needed = {_stage(query) for query, *_ in roots}
    if not needed <= build.stages.analysis.keys():
        return [build.stages.root(stage) for stage in build.stages.analysis]
    for stage, (_, *before) in reversed(build.stages.analysis.items()):
        needed |= set(before) if stage in needed else set()
    return [build.stages.root(stage) for stage in build.stages.analysis if stage in needed]


def _stage(query: Any) -> str:
    return str(query.name.partition(":")[0])


def keep(build: Build) -> None:
    """Commits the results of a read-only command, unless the cache has a complete run: `explain` compares with it."""
    if build.record is None or not build.record.made.complete:
        build.commit()


def stage_rows(build: Build) -> dict[str, Name]:
    """The names of the stages' root rows, by stage."""
    roots = {stage: build.stages.root(stage) for stage in build.stages.analysis}
    return {stage: (query.name, *args) for stage, (query, *args) in roots.items()}
