"""A command line: what it requests, its command, and errors without a traceback; and what commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import Struct

from gradmill.cli.console import Terminal, print_report
from gradmill.problems.plain import escaped, text_of
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.memo import Name
from gradmill.session.own_code import CodeChanged
from gradmill.session.paths import check_cache
from gradmill.session.problems import Problems
from gradmill.session.roots import Root
from gradmill.session.session import Session
from gradmill.session.settings.config import NO_FIX, NO_FIX_HINT, Config, read_config
from gradmill.session.settings.reader import Settings, read_settings
from gradmill.session.settings.variables import NEAR, VARIABLES, no_such_variable

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from gradmill.cli.commands.command import Command

RUN = "run"  # the command of a command line without one
MISUSED = 3  # the exit status for an invalid command line, as doit has it
_SHOW_SETTINGS = "--show-settings"


def main(words: Sequence[str]) -> int:
    """Runs a command line; returns the exit status: 0, 1 if the specs have errors, or 3 if the command line is wrong or
    something in its way."""
    try:
        request = read(words)
        return _main_of(request)(request)
    except Failed as failed:
        return report_failure(failed)
    except (SpecError, CodeChanged, OSError) as error:
        sys.stdout.flush()
        sys.stderr.write(f"{'' if isinstance(error, CodeChanged) else 'ERROR: '}{text_of(error)}\n")
        return MISUSED


def _main_of(request: Request) -> Callable[[Request], int]:
    """The function of a request's command."""
    if request.command == RUN:
        module: Any = import_module(f"{__package__}.{RUN}")
    else:
        from gradmill.cli.commands.table import COMMANDS

        module = import_module(COMMANDS[request.command].module(request.command))
    function: Callable[[Request], int] = (module.SCRIPT() if request.script else module).main
    return function


# ---- the command line


def read(words: Sequence[str]) -> Request:
    """The request of a command line. SpecError if it is wrong."""
    if all("=" in word and not word.startswith("-") for word in words):  # most runs: without the table of commands
        check_variables(words)
        return Request(RUN, variables=dict(word.split("=", 1) for word in words), line=list(words))
    from gradmill.cli.commands.table import COMMANDS, REMOVED

    named = next((word for word in words if not word.startswith("-") and "=" not in word), "")
    if "--help" in words or "-h" in words:
        return Request("help", [named] if named else [])
    if list(words) == ["--version"]:
        return Request("version")
    if _SHOW_SETTINGS in words:
        rest = [word for word in words if word != _SHOW_SETTINGS]
        check_variables(rest)
        return Request(RUN, [], {"show_settings": True}, dict(word.split("=", 1) for word in rest if "=" in word[1:]))
    if named in REMOVED:
        raise SpecError(f"there is no command '{named}'", REMOVED[named])
    name = named if named in COMMANDS else RUN
    command, rest = COMMANDS[name], list(words)
    if named in COMMANDS:
        rest.remove(named)
    own = [option.name.removeprefix("--") for option in command.options]
    if command.script:
        script: Any = import_module(command.module(name)).SCRIPT
        rest, own = script.arguments().joined(rest), list(script.build_files)
    _check_words(rest)
    _check_options(rest, own)
    check_variables(rest)
    variables = dict(word.split("=", 1) for word in rest if "=" in word and not word.startswith("-"))
    rest = [word for word in rest if "=" not in word or word.startswith("-")]
    names, options = (rest, {}) if command.script else _parsed(name, command, rest, own)
    return Request(name, names, options, variables, script=command.script, line=list(words))


def _parsed(name: str, command: Command, words: list[str], own: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The names and the options among the words behind a command. `own`: the names of its options."""
    known, unknown = parser_of(name, command).parse_known_intermixed_args(words)
    if unknown:
        hint = nearest(unknown[0].partition("=")[0].lstrip("-"), [*own, "help"], near=NEAR).replace("'", "'--", 1)
        if not hint:
            _check_options(unknown, own, near=True)
        raise SpecError(f"{name}: {unknown[0]}: there is no such option", hint or _all_options(name))
    options = vars(known)
    for option in command.options:
        value = options[option.field]
        if option.values and value and value not in option.values:
            hint = nearest(value, option.values) or f"write one of {', '.join(option.values)}"
            raise SpecError(f"{name}: {option.name}={value}", hint)
    return options.pop("names"), options


def _all_options(name: str) -> str:
    return f"gradmill help {name} lists the options"


def parser_of(name: str, command: Command) -> ArgumentParser:
    """The parser of what may follow a command: its options, before and after names."""
    from argparse import ArgumentParser

    class Parser(ArgumentParser):
        def error(self, message: str) -> Any:
            named, _, problem = message.removeprefix("argument ").partition(": ")
            option = named.rpartition("/")[2]
            if "ignored explicit argument" in problem:
                value = problem.rpartition(" ")[2].strip("'")
                raise SpecError(f"{name}: {option}={value}: this option has no value", _all_options(name))
            if "expected one argument" in problem:
                raise SpecError(f"{name}: {option}: this option needs a value", _all_options(name))
            raise SpecError(f"{name}: {message}", _all_options(name))

    parser = Parser(prog=f"gradmill {name}", add_help=False, allow_abbrev=False)
    for option in command.options:
        flags = [option.short, option.name] if option.short else [option.name]
        parser.add_argument(*flags, dest=option.field, help=option.meaning, **option.arguments)
    parser.add_argument("names", nargs="*")
    return parser


# ---- words that are wrong, each with the nearest one that is not


def _check_words(words: Sequence[str]) -> None:
    """SpecError for an empty word, and one with a control character: no option and no name has one."""
    if not all(words):
        raise SpecError("'': an argument is empty", "leave it out, or write a name")
    named = (word for word in words if word.startswith("-") or "=" not in word)
    if odd := next((word for word in named if escaped(word) != word), ""):
        raise SpecError(f"there is no '{odd}'", "it has a character that cannot be printed")


def check_variables(words: Iterable[str]) -> None:
    """SpecError for an unknown variable."""
    for word in words:
        name, sign, value = word.partition("=")
        if sign and not word.startswith("-") and name not in VARIABLES:
            from gradmill.cli.commands.table import REMOVED

            problem, hint = no_such_variable(name, value)
            raise SpecError(problem, REMOVED.get(name) or hint)


def _check_options(words: Sequence[str], own: Iterable[str], *, near: bool = False) -> None:
    """SpecError for an option that should be a variable: `--cache=DIR`. `own`: the names of the command's options;
    `near`: names that are near to that of a variable are reported, too."""
    for word, following in zip(words, [*words[1:], ""]):
        name, _, value = word.removeprefix("--").partition("=")
        variable = name if name in VARIABLES or not near else nearest(name, VARIABLES, what="", near=NEAR).strip(" '?")
        if word.startswith("--") and variable in VARIABLES and name not in own:
            raise SpecError(f"{word}: there is no such option", f"write {variable}={value or following or '…'}")


# ---- what commands share


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
    """Brings queries up to date. Raises Failed if they have errors, CodeChanged if gradmill's code changed."""
    roots = list(roots)
    _update(session, roots)
    session.inputs.code.check()
    fail_for(session, session.problems_of(roots))


def fail_for(session: Session, problems: Problems) -> None:
    """Raises Failed if any of these problems is an error."""
    if problems.failed:
        raise Failed(problems.report, session.config.format)


def _update(session: Session, roots: Sequence[Root]) -> None:
    """Brings queries up to date, stage by stage; a terminal shows the current one."""
    terminal = Terminal(sys.stderr)
    for query, *args in (*_before(session, roots), *roots) if terminal.on else roots:
        terminal.show(_stage(query))
        session.db.digest(query, *args)
    terminal.clear()


def _before(session: Session, roots: Sequence[Root]) -> list[Root]:
    """The root queries of the stages that `roots` depend on, in order."""
    needed = {_stage(query) for query, *_ in roots}
    if not needed <= session.stages.analysis.keys():
        return [session.stages.root(stage) for stage in session.stages.analysis]
    return [session.stages.root(stage) for stage in session.stages.closure(needed)]


def _stage(query: Any) -> str:
    return str(query.module.rpartition(".")[2])


def stage_rows(session: Session) -> dict[str, Name]:
    """The names of the stages' root rows, by stage."""
    roots = {stage: session.stages.root(stage) for stage in session.stages.analysis}
    return {stage: (query.name, *args) for stage, (query, *args) in roots.items()}


def report_failure(failed: Failed) -> int:
    """Prints the report of errors in the specs; returns the exit status."""
    print_report(failed.report, failed.format, failed.stream)
    return failed.status
