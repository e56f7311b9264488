"""`gradmill`: reads the command line by the table of commands, runs its command, and reports errors without a
traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradmill.cli.commands.command import Command
from gradmill.cli.commands.request import MISUSED, Failed, Request, report_failure
from gradmill.cli.commands.table import COMMANDS, REMOVED, RUN
from gradmill.cli.process import end, prepare
from gradmill.problems.plain import escaped, message_of, reason
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.own_code import RUN_AGAIN, CodeChanged
from gradmill.session.settings.variables import NEAR, VARIABLES, no_such_variable

if TYPE_CHECKING:
    from argparse import ArgumentParser

_SHOW_SETTINGS = "--show-settings"


def main(words: Sequence[str]) -> int:
    """Runs a command line; returns the exit status: 0, 1 if the specs have errors, or 3 if the command line is wrong or
    something in its way."""
    prepare()
    try:
        request = read(words)
        command = COMMANDS[request.command]
        module = import_module(command.module(request.command))
        return int((module.SCRIPT() if command.script else module).main(request))
    except Failed as failed:
        return report_failure(failed)
    except SpecError as error:
        problem = message_of(error)
    except CodeChanged:
        sys.stderr.write(f"{RUN_AGAIN}\n")
        return MISUSED
    except BrokenPipeError:
        raise
    except OSError as error:
        problem = reason(error)
    except KeyboardInterrupt as error:
        end(type(error), error, None)
        return 130
    sys.stdout.flush()
    sys.stderr.write(f"ERROR: {problem}\n")
    return MISUSED


# ---- the command line


def read(words: Sequence[str]) -> Request:
    """The request of a command line. SpecError if it is wrong."""
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
        from gradmill.cli.commands.script import BUILD_FILES, arguments_of

        rest, own = arguments_of(name).joined(rest), list(BUILD_FILES)
    _check_words(rest)
    _check_options(rest, own)
    check_variables(rest)
    variables = dict(word.split("=", 1) for word in rest if "=" in word and not word.startswith("-"))
    rest = [word for word in rest if "=" not in word or word.startswith("-")]
    names, options = (rest, {}) if command.script else _parsed(name, rest, own)
    return Request(name, names, options, variables, line=list(words))


def _parsed(name: str, words: list[str], own: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The names and the options among the words behind a command. `own`: the names of its options."""
    command = COMMANDS[name]
    if not words:  # as of most runs: without a parser
        return [], {option.field: option.default for option in command.options}
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
