"""`gradmill --help`: the commands by purpose, the variables, examples; `COMMAND --help`: one command; `--version`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import groupby

from gradmill import __version__
from gradmill.cli.commands.command_line import parser_of
from gradmill.cli.commands.request import Request
from gradmill.cli.commands.table import COMMANDS
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.settings.variables import NEAR, VARIABLES

_EXAMPLES = {
    "gradmill specs=torch": "generate the autograd C++ of the installed torch",
    "gradmill specs=torch explain exp": "what exp is made from, and why it would be rebuilt",
    "gradmill specs=mine against=torch diff": "what an edited copy changes",
}


def main(request: Request) -> int:
    """Prints the page about gradmill, or that of a command; or the version."""
    if request.command == "version":
        sys.stdout.write(f"{_version()}\n")
        return 0
    name = " ".join(request.names)
    if name and name not in COMMANDS:
        hint = nearest(name, COMMANDS, near=NEAR) or "gradmill help lists the commands"
        raise SpecError(f"there is no command '{name}'", hint)
    sys.stdout.write(lines(parser_of(name, COMMANDS[name]).format_help().splitlines() if name else page()))
    return 0


def _version() -> str:
    from gradmill.releases import KNOWN, minor

    python = ".".join(map(str, sys.version_info[:3]))
    return f"gradmill {__version__}, for PyTorch {minor(KNOWN[0])} to {minor(KNOWN[-1])}, on Python {python}"


def page() -> list[str]:
    """The lines of the page about gradmill."""
    text = [f"gradmill {__version__}: PyTorch's autograd C++ from its YAML, as an incremental build", ""]
    text += ["usage: gradmill [COMMAND] [NAME …] [variable=value …]"]
    text += ["       gradmill COMMAND --help", "       gradmill --version"]
    for group, commands in groupby(COMMANDS, lambda name: COMMANDS[name].group):
        text += ["", group, *_table({name: COMMANDS[name].sentence for name in commands})]
    text += ["", "variables", *_table({name: variable.meaning for name, variable in VARIABLES.items()})]
    return [*text, "", "examples", *_table(_EXAMPLES)]


def _table(rows: Mapping[str, str]) -> Sequence[str]:
    width = max(map(len, rows))
    return [f"  {name:{width}}  {meaning}" for name, meaning in rows.items()]
