"""What a command of `gradmill` is: a row of the table of commands, or of an extension's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec import Struct

_PACKAGE = "gradmill.cli.commands"


class Option(Struct, frozen=True):
    """An option of a command. `value`: what follows it, "" for a flag; `values`: the only ones that it may have."""

    name: str  # --all
    meaning: str
    short: str = ""  # -a
    value: str = ""
    values: tuple[str, ...] = ()


class Command(Struct, frozen=True):
    """A command. Its module has a function `main`, which gets the `Request` and returns the exit status."""

    group: str  # in the help
    sentence: str
    usage: str = ""  # what may follow its name
    description: str = ""
    options: tuple[Option, ...] = ()
    file: str = ""  # the module in the package, if it is not called as the command is
    script: bool = False  # whether it has the arguments of one of PyTorch's scripts, and its own parser
    package: str = _PACKAGE

    def load(self, name: str) -> Any:
        """The module of the command with this name; of one in the place of a script, the `Script`."""
        module = import_module(f"{self.package}.{self.file or name.replace('-', '_')}")
        return module.SCRIPT() if self.script else module


GROUPS = ("generate", "understand", "for other builds", "clean up", "other")  # in the order of the help
GENERATE, UNDERSTAND, OTHERS, CLEAN, OTHER = GROUPS
QUIET = Option("--quiet", "print nothing but errors and warnings", "-q")
OUTPUT = Option("--output", "write to this file", "-o", "FILE")


def format_option(*formats: str) -> Option:
    """The option `--format` of a command whose report has several."""
    meaning = "the format of the report; format= is the format of problems"
    return Option("--format", meaning, value="FORMAT", values=formats)
