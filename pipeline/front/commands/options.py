"""A mixin for commands: options may follow names, and an unknown one is reported with a hint."""

from __future__ import annotations

import getopt
from typing import Any

from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand

from pipeline.front.settings.command_line import unknown_in_clone
from pipeline.front.settings.hints import two_lines, unknown_option
from pipeline.problems.problem import nearest

OWN_NAME = "gradmill"  # the program without other projects' tasks

_PROBLEMS = {  # a part of getopt's message -> the problem with the option
    "requires argument": "this option needs a value",
    "must not have an argument": "this option has no value",
    "unique prefix": "this is the beginning of several options",
}


def option(name: str, meaning: str, default: object = "", **more: Any) -> dict[str, Any]:
    """An option of a command, of the type of its default value. `more`: what doit may take besides."""
    return {"name": name, "long": name, "type": type(default), "default": default, "help": meaning, **more}


class Options:
    """A command of doit's kind."""

    name: str
    cmdparser: Any
    task_options = False  # whether words after a name may be the options of a task

    def parse_execute(self, in_args: list[str]) -> Any:
        """Parses the words and runs the command; returns its exit status. InvalidCommand for an unknown option, and for
        an unknown variable of `doit`, which ignores those; `gradmill` has refused them."""
        if problem := unknown_in_clone():
            raise InvalidCommand(problem)
        words = in_args if self.task_options else self._ordered(in_args)
        try:
            return super().parse_execute(words)  # type: ignore[misc]
        except CmdParseError as error:  # doit's message ends in the repr of all options
            problem = str(error).partition(" (parsing options:")[0].strip()
            raise InvalidCommand(two_lines(f"{self.name}: {problem}", self._help())) from None

    def _ordered(self, words: list[str]) -> list[str]:
        """The words with all options first."""
        try:
            options, names = getopt.gnu_getopt(words, self.cmdparser.get_short(), self.cmdparser.get_long())
        except getopt.GetoptError as error:
            raise InvalidCommand(self._wrong(words, error)) from None
        valued = {name.removesuffix("=") for name in self.cmdparser.get_long() if name.endswith("=")}
        first = [f"{name}={value}" if name.removeprefix("--") in valued else name + value for name, value in options]
        return [*first, *(["--"] if any(name.startswith("-") for name in names) else []), *names]

    def _wrong(self, words: list[str], error: getopt.GetoptError) -> str:
        mark = "--" if f"--{error.opt}" in error.msg else "-"
        word = next((word for word in words if word.partition("=")[0] == mark + error.opt), mark + error.opt)
        known = next((text for part, text in _PROBLEMS.items() if part in error.msg), "")
        if known:
            return two_lines(f"{self.name}: {word}: {known}", self._help())
        longs = [*(name.removesuffix("=") for name in self.cmdparser.get_long()), "help"]
        hint = nearest(error.opt, longs) if mark == "--" else ""
        if not hint and (variable := unknown_option(words)):
            return f"{self.name}: {variable}"
        return two_lines(f"{self.name}: {word}: there is no such option", hint.replace("'", "'--", 1) or self._help())

    def _help(self) -> str:
        return f"gradmill help {self.name} lists the options"
