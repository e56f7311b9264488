"""Reads a command line that has more than variables: its command, names and options; and says what is wrong in it, each
time with the nearest word that is not."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentError, ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from gradmill.cli.commands.command import Command
from gradmill.cli.commands.request import RUN, Request
from gradmill.cli.commands.table import COMMANDS
from gradmill.problems.plain import escaped
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.settings.variables import NEAR, VARIABLES, check_names

_SHOW_SETTINGS = "--show-settings"


def read(words: Sequence[str]) -> Request:
    """The request of a command line. SpecError if it is wrong."""
    named = next((word for word in words if not word.startswith("-") and "=" not in word), "")
    if "--help" in words or "-h" in words:
        return Request("help", [named] if named else [])
    if list(words) == ["--version"]:
        return Request("version")
    if _SHOW_SETTINGS in words:
        rest = [word for word in words if word != _SHOW_SETTINGS]
        return Request(RUN, [], {"show_settings": True}, _variables(rest))
    name = named if named in COMMANDS else RUN
    command, rest = COMMANDS[name], list(words)
    if named in COMMANDS:
        rest.remove(named)
    own = [option.name.removeprefix("--") for option in command.options]
    if command.script:
        script = command.load(name)
        rest, own = script.arguments().joined(rest), list(script.build_files)
    _check_words(rest)
    _check_options(rest, own)
    variables = _variables(rest)
    rest = [word for word in rest if "=" not in word or word.startswith("-")]
    names, options = (rest, {}) if command.script else _parsed(name, command, rest, own)
    return Request(name, names, options, variables, script=command.script, line=list(words))


def main_of(request: Request) -> Callable[[Request], int]:
    """The function of a request's command."""
    function: Callable[[Request], int] = COMMANDS[request.command].load(request.command).main
    return function


def _variables(words: Sequence[str]) -> dict[str, str]:
    """The variables among words. SpecError for an unknown one."""
    given = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("-"))
    check_names(given)
    return given


def _parsed(name: str, command: Command, words: list[str], own: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The names and the options among the words behind a command. `own`: the names of its options."""
    try:
        known, unknown = parser_of(name, command).parse_known_intermixed_args(words)
    except ArgumentError as error:
        raise _wrong_option(name, error) from None
    if unknown:
        hint = nearest(unknown[0].partition("=")[0].lstrip("-"), [*own, "help"], near=NEAR).replace("'", "'--", 1)
        if not hint:
            _check_options(unknown, own, near=True)
        raise SpecError(f"{name}: {unknown[0]}: there is no such option", hint or _all_options(name))
    options = vars(known)
    for option in command.options:
        value = options[option.name.removeprefix("--").replace("-", "_")]
        if option.values and value and value not in option.values:
            hint = nearest(value, option.values) or f"write one of {', '.join(option.values)}"
            raise SpecError(f"{name}: {option.name}={value}", hint)
    return options.pop("names"), options


def _wrong_option(name: str, error: ArgumentError) -> SpecError:
    """The error for an option of a command that argparse refuses."""
    option, problem = (error.argument_name or "").rpartition("/")[2], str(error)
    if "ignored explicit argument" in problem:
        value = problem.rpartition(" ")[2].strip("'")
        problem = f"{option}={value}: this option has no value"
    elif "expected one argument" in problem:
        problem = f"{option}: this option needs a value"
    return SpecError(f"{name}: {problem}", _all_options(name))


def _all_options(name: str) -> str:
    return f"gradmill help {name} lists the options"


def parser_of(name: str, command: Command) -> ArgumentParser:
    """The parser of what may follow a command: its options, before and after names; of a script, its arguments."""
    if command.script:
        return cast("ArgumentParser", command.load(name).arguments())
    parser = ArgumentParser(f"gradmill {name}", f"%(prog)s {command.usage}", command.sentence, command.description)
    parser.allow_abbrev = parser.exit_on_error = False
    for option in command.options:
        flags = [option.short, option.name] if option.short else [option.name]
        about = f"{option.meaning} ({', '.join(option.values)})" if option.values else option.meaning
        kind: dict[str, Any] = {"metavar": option.value, "default": ""} if option.value else {"action": "store_true"}
        parser.add_argument(*flags, help=about, **kind)
    parser.add_argument("names", nargs="*", help=SUPPRESS)
    return parser


def _check_words(words: Sequence[str]) -> None:
    """SpecError for an empty word, and one with a control character: no option and no name has one."""
    if not all(words):
        raise SpecError("'': an argument is empty", "leave it out, or write a name")
    named = (word for word in words if word.startswith("-") or "=" not in word)
    if odd := next((word for word in named if escaped(word) != word), ""):
        raise SpecError(f"there is no '{odd}'", "it has a character that cannot be printed")


def _check_options(words: Sequence[str], own: Iterable[str], *, near: bool = False) -> None:
    """SpecError for an option that should be a variable: `--cache=DIR`. `own`: the names of the command's options;
    `near`: names that are near to that of a variable are reported, too."""
    for word, following in zip(words, [*words[1:], ""]):
        name, _, value = word.removeprefix("--").partition("=")
        variable = name if name in VARIABLES or not near else nearest(name, VARIABLES, what="", near=NEAR).strip(" '?")
        if word.startswith("--") and variable in VARIABLES and name not in own:
            raise SpecError(f"{word}: there is no such option", f"write {variable}={value or following or '…'}")
