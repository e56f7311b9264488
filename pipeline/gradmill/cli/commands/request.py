"""A command: what is requested of it; and what commands share: errors, reports, and a progress line.

The progress line is on a terminal alone. It is rewritten in place, and erased before permanent output is printed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any, TextIO

from msgspec import Struct

from gradmill.problems.plain import line
from gradmill.problems.problem import SpecError
from gradmill.session.paths import check_cache
from gradmill.session.problems import Problems
from gradmill.session.roots import Root
from gradmill.session.session import Session
from gradmill.session.settings.config import NO_FIX, NO_FIX_HINT, Config, read_config
from gradmill.session.settings.reader import Settings, read_settings

RUN = "run"  # the command of a command line without one
MISUSED = 3  # the exit status for an invalid command line, as doit has it
_PAUSE = 0.05  # seconds between two updates: faster ones cannot be read
_ERASE = "\r\033[K"


class Request(Struct):
    """A command, and what follows it. `variables`: those of the command line; `replaced`: the options that stand for
    some of them, as `Config.options` has them."""

    command: str
    names: list[str] = []
    options: dict[str, Any] = {}
    variables: dict[str, str] = {}
    replaced: dict[str, str] = {}
    script: bool = False  # whether the command is in the place of a script
    line: list[str] = []  # all words of the command line

    def settings(self) -> Settings:
        """The variables, with those of the settings file, and the set around the folder if none is named. A command in
        the place of a script has its own alone. SpecError as in `read_settings`."""
        return Settings(self.variables) if self.script else read_settings(self.variables)

    def config(self, variables: Mapping[str, str] | None = None, *, stream: TextIO | None = None) -> Config:
        """The configuration: that of `settings`, of which a line on standard error names a set that was found; with
        `variables`, that of these. SpecError if they are wrong; if `format` is not text, errors in a set's
        description are reported on `stream`, by default standard error, and Failed is raised."""
        if variables is None:
            variables = settings = self.settings()
            sys.stderr.write(settings.notice)
        try:
            config = read_config(variables, self.replaced or None)
        except SpecError as error:
            _report(error, variables.get("format", "text"), stream or sys.stderr)
            raise
        sys.stderr.write(config.release_warning)
        if config.fix and self.command != "check":
            raise SpecError(NO_FIX, NO_FIX_HINT)
        return config

    def open(self, *, owned: bool = True) -> closing[Session]:
        """A session of a command that writes no generated file, closed at the end. SpecError as of `config`, and with
        `owned` if the set's folder in the cache belongs to another set."""
        config = self.config()
        if owned:
            check_cache(config)
        return closing(Session.open(config))

    def expect_none(self, usage: str) -> None:
        """SpecError if there are words that are neither variables nor options; `usage` is the hint."""
        if self.names:
            raise SpecError(f"{self.command}: '{self.names[0]}' is not expected here", f"write {usage}")


class Failed(Exception):
    """The specs have errors. `report` is their text, written in `format_`, for `stream`."""

    def __init__(self, report: str, format_: str, *, stream: TextIO | None = None, status: int = 1) -> None:
        super().__init__(report)
        self.report, self.format, self.stream, self.status = report, format_, stream, status


def _report(error: SpecError, format_: str, stream: TextIO) -> None:
    """Raises Failed for errors that have places, unless the format is text."""
    placed = getattr(error, "placed", ())
    if not placed or format_ == "text":
        return
    from gradmill.problems.formats import FORMATS, written
    from gradmill.problems.report import Report

    if format_ in FORMATS:
        text = written(format_, Report(tuple(placed), len(placed), 0))
        raise Failed(text, "json", stream=stream, status=MISUSED)


def check(session: Session, roots: Iterable[Root]) -> None:
    """Brings queries up to date; a terminal shows the current one. Raises Failed if they have errors, CodeChanged if
    gradmill's code changed."""
    roots, terminal = list(roots), Terminal(sys.stderr)
    before = session.stages.closure(_stage(query) for query, *_ in roots) if terminal.on else []
    for query, *args in (*map(session.stages.root, before), *roots):
        terminal.show(_stage(query))
        session.db.digest(query, *args)
    terminal.clear()
    session.inputs.code.check()
    fail_for(session, session.problems_of(roots))


def _stage(query: Any) -> str:
    return str(query.module.rpartition(".")[2])


def fail_for(session: Session, problems: Problems) -> None:
    """Raises Failed if any of these problems is an error."""
    if problems.failed:
        raise Failed(problems.report, session.config.format)


# ---- what is printed


def print_report(report: str, format_: str, stream: TextIO | None = None) -> None:
    """Writes a report to `stream`, by default standard error; in colour if that is a terminal."""
    if report:
        from gradmill.problems.color import painted

        stream = stream or sys.stderr
        stream.write(painted(report, stream, format_))
        stream.flush()


class Terminal:
    """The progress line of one stream. Silent unless the stream is a terminal that can erase a line."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.on = bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"
        self._shown = False
        self._next = 0.0

    def show(self, text: str) -> None:
        """Replaces the progress line with `text`. Skips updates that follow too fast."""
        if not self.on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        self._stream.write(f"{_ERASE}{line(text)[: _width(self._stream) - 1]}")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Erases the progress line."""
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._shown = False


def _width(stream: Any) -> int:
    """The width of a terminal in columns, 80 if unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
