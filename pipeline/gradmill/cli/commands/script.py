"""The base of commands that take the place of a script of PyTorch: each is a run with the variables that the script's
arguments stand for.
"""

from __future__ import annotations

import argparse
import filecmp
import os
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import ClassVar, NoReturn

from gradmill.cli.commands.request import Request, fail_for, print_report
from gradmill.cli.commands.run import run
from gradmill.io.files import read_file
from gradmill.problems.plain import warn
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.places import check_build_files
from gradmill.session.session import Session
from gradmill.session.settings.config import Config
from gradmill.session.settings.variables import FILES

CACHE = "build/gradmill"
BUILD_FILES = {  # gradmill's own options: a variable -> its meaning
    "stamp": "write the digest of all results to FILE, if it changed",
    "depfile": "write a rule with all inputs to FILE, for Ninja and CMake",
    "outputs": "write the list of generated files to FILE, for CMake",
}


class Script:
    """A run with the arguments of a script. `name`: of the command; `script`: what it takes the place of. `needed`:
    options with a path that cannot be empty.
    `options_of`: variables -> the options that stand for them, as help has them. `fixed`: other variables that
    arguments or the checkout determine -> what to write instead."""

    name: ClassVar[str]
    script: ClassVar[str]
    where: ClassVar[str] = " Run it in the root of a checkout."
    more: ClassVar[str] = ""  # the help of one more variable
    needed: ClassVar[tuple[str, ...]]
    options_of: ClassVar[Mapping[str, str]]
    fixed: ClassVar[Mapping[str, str]]
    build_files: ClassVar = BUILD_FILES

    @classmethod
    def add_arguments(cls, parser: Arguments) -> None:
        """Adds the script's arguments to a parser."""
        raise NotImplementedError

    @classmethod
    def arguments(cls) -> Arguments:
        """The parser of the script's arguments, and of gradmill's own for other build systems."""
        about = (
            f"Writes what PyTorch's {cls.script} writes, in its place, with its arguments (with underscores, too)."
            f"{cls.where} The variables {cls.more}cache=DIR (by default build/gradmill), release=, strict= and format="
            " are those of a run."
        )
        parser = Arguments(cls.name, about, (*FILES, *cls.needed))
        cls.add_arguments(parser)
        group = parser.add_argument_group("for build systems")
        for name, meaning in BUILD_FILES.items():
            group.add_argument(f"--{name}", metavar="FILE", help=meaning)
        return parser

    def variables_for(self, options: argparse.Namespace, given: Mapping[str, str]) -> dict[str, str]:
        """The variables that the arguments stand for. `given`: those of the command line. SpecError if these or
        the arguments are wrong."""
        raise NotImplementedError

    def in_place_of_variables(self, options: argparse.Namespace) -> dict[str, str]:
        """The options that a message names in place of the variables that they stand for."""
        return {name: f"{option.partition(' ')[0]} " for name, option in self._all_options().items()}

    def _all_options(self) -> dict[str, str]:
        return {**self.options_of, **{name: f"--{name} FILE" for name in BUILD_FILES}}

    def main(self, request: Request) -> int:
        """Runs with the variables that the arguments stand for; returns the exit status."""
        given = request.variables
        instead = {name: f"write {option}" for name, option in self._all_options().items()}
        for name, hint in {**instead, **self.fixed}.items():
            if name in given:
                refuse(self.name, f"{name}={given[name]}: the arguments determine it", hint)
        options = self.arguments().read(request.names)
        variables = {"cache": CACHE, **self.variables_for(options, given)}
        instead_of = self.in_place_of_variables(options)
        of_run = Request(self.name, variables=variables, replaced=instead_of, script=True)
        config = of_run.config()
        if not getattr(options, "dry_run", False):
            return run(of_run, config)
        for name, path in build_files(options).items():
            warn(f"{self.name}: --{name} {path}: it is not written with --dry-run")
        return _dry_run(config)


def _dry_run(config: Config) -> int:
    """Does the work of a run but for the files. What it computed stays in the cache."""
    from gradmill.session.cmake import output_lists

    with closing(Session.open(config, writes=True)) as session:
        fail_for(session, problems := session.problems())
        check_build_files(session)
        outputs, lists = session.outputs, output_lists(session)
        outputs.put({path: data for path, data in lists.items() if not outputs.has_digest(path, data.digest)})
        session.save_if_first()
        print_report(problems.report, config.format)
    return 0


class Arguments(argparse.ArgumentParser):
    """A parser that reports errors as gradmill's commands do. Underscores may stand for dashes in names of options.
    `needed`: as in `Script`."""

    def __init__(self, command: str, about: str, needed: tuple[str, ...]) -> None:
        super().__init__(prog=f"gradmill {command}", description=about)
        self._command = command
        self._hint = f"{command} --help lists the arguments"
        self._needed = needed

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The parsed words. SpecError if any is wrong."""
        options, rest = self.parse_known_args([_with_dashes(word) for word in words])
        if rest:
            known = [name for action in self._actions for name in action.option_strings]
            refuse(self._command, f"'{rest[0]}' is not expected here", nearest(rest[0], known) or self._hint)
        for name in self._needed:
            if getattr(options, name.replace("-", "_"), None) == "":
                refuse(self._command, f"--{name}: the path is empty", "name a path, or leave the option out")
        return options

    def joined(self, words: Sequence[str]) -> list[str]:
        """The words, each option in one with its value: `--install-dir=type=debug` is no variable, and not empty."""
        found: list[str] = []
        for word in words:
            option = self._with_value(found[-1]) if found else ""
            if option and not word.startswith("-"):
                found[-1] = f"{option}={word}"
            else:
                found.append(word)
        return found

    def _with_value(self, word: str) -> str:
        """The option that a word is, or is the beginning of, if it takes one value; "" if there is none."""
        if not word.startswith("-") or "=" in word:
            return ""
        name, options = _with_dashes(word), self._option_string_actions
        named = [name] if name in options else [each for each in options if word[1] == "-" and each.startswith(name)]
        actions = {id(options[each]): options[each] for each in named}.values()
        return "".join(each.option_strings[-1] for each in actions if each.nargs is None) if len(actions) == 1 else ""

    def error(self, message: str) -> NoReturn:
        """Reports an error of argparse."""
        refuse(self._command, message.removeprefix("argument "), self._hint)


def refuse(command: str, problem: str, hint: str) -> NoReturn:
    """Raises SpecError."""
    raise SpecError(f"{command}: {problem}", hint)


def build_files(options: argparse.Namespace) -> dict[str, str]:
    """The variables for gradmill's own options."""
    return {name: path for name in BUILD_FILES if (path := getattr(options, name))}


def check_selection(command: str, option: str, path: str | None) -> None:
    """Refuses a file of selected operators that is a list of names, which only `--selected-op-list-path` may be."""
    data = read_file(path) if path else None
    lines = (line.strip() for line in (data or b"").splitlines())
    first = next((line for line in lines if line and not line.startswith((b"#", b"%", b"---"))), b"")
    if first.startswith((b"- ", b"[")) or first == b"-":
        refuse(command, f"--{option} {path}: this is a list of names", "write a mapping: operators: {aten::add: {}}")


def is_same(path: str, own: str) -> bool:
    """Whether a file is another one, or a copy of it."""
    if os.path.realpath(path) == os.path.realpath(own):
        return True
    with suppress(OSError):
        return filecmp.cmp(path, own, shallow=False)
    return False


def _with_dashes(word: str) -> str:
    """An argument, with dashes in the name of an option."""
    name, sign, value = word.partition("=")
    return name.replace("_", "-") + sign + value if word.startswith("--") else word
