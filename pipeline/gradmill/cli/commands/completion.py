"""`gradmill completion bash`: a script for a shell, with the words of the tables of commands and variables. It asks
`gradmill list` for the names of units and files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from gradmill.cli.commands.request import Request
from gradmill.cli.commands.table import COMMANDS
from gradmill.families.rows import FAMILY_ROWS
from gradmill.problems.catalog.table import RULES
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.roots import ANALYSIS
from gradmill.session.selection import FILES, GROUPS, MANIFEST, UNITS
from gradmill.session.settings.variables import VARIABLES


class Case(Struct, frozen=True):
    """What may stand at the place `COMMAND WORD` if it matches a pattern; the first of several counts. `paths`: whether
    folders may, and files with these ends; `names`: what `gradmill list` prints, `plain` without groups."""

    pattern: str
    words: Sequence[str] = ()
    paths: tuple[str, ...] | None = None
    names: str = ""

    def in_sh(self) -> str:
        """A line of the script, which sets some of its variables."""
        ends = " ".join(("/", *(end or "*" for end in self.paths))) if self.paths is not None else ""
        found = {"words": " ".join(self.words), "ends": ends, "names": self.names}
        values = " ".join(f'{name}="{value}"' for name, value in found.items() if value)
        return f"        {self.pattern.replace(' ', chr(92) + ' ')}) {values} ;;"


_STAGES = (*ANALYSIS, UNITS, FILES, MANIFEST)
_FOLDER = Path(__file__).parents[1] / "shells"
# `_gradmill_words LINE` prints what may stand in the place of its last word. Nothing of a subshell stays in the shell.
_WORDS = "words.sh"
SHELLS = {"bash": "gradmill.bash", "zsh": "_gradmill", "fish": "gradmill.fish"}  # the scripts, with the text of _WORDS


def cases() -> Iterator[Case]:
    """All cases: of the tables of commands and variables."""
    from gradmill.reports.show import stages

    for name, variable in VARIABLES.items():
        yield Case(f"* {name}=*", [f"{name}={word}" for word in variable.words()], variable.path)
    for name, command in COMMANDS.items():
        for option in command.options:
            if option.values:
                yield Case(f"{name} {option.name}=*", [f"{option.name}={value}" for value in option.values])
        yield Case(f"{name} -*", [*(option.name for option in command.options), "--help"])
    yield Case(" -*", ("--help", "--version", "--show-settings"))
    yield from (Case(f"* {group}*", names="grouped") for group in GROUPS)
    variables = [f"{name}=" for name in VARIABLES]
    for name, words in _arguments().items():
        yield Case(f"{name} *", [*words, *variables])
    unlisted = [stage for stage in stages() if stage not in _STAGES]
    for name in ("explain", "coverage", "verify", "show"):
        yield Case(f"{name} *", [*(unlisted if name == "show" else ()), *variables], names="plain")
    for name in ("run", "list", "clean"):
        yield Case(f"{name} *", [*_STAGES, *GROUPS, *variables])
    yield Case(" *", [*COMMANDS, *_STAGES, *GROUPS, *variables])
    yield Case("*", variables)


def _arguments() -> dict[str, Sequence[str]]:
    """The words that may follow the commands that take some of a list."""
    from gradmill.cli.commands.export import FORMATS
    from gradmill.cli.commands.schema import TYPES
    from gradmill.reports.spec_schemas import FILES as SPEC_FILES

    return {
        "completion": tuple(SHELLS),
        "export": (*FORMATS, "cmakedir", "specsdir"),
        "help": tuple(COMMANDS),
        "families": tuple(FAMILY_ROWS),
        "rule": tuple(RULES),
        "schema": (*SPEC_FILES, *TYPES),
    }


def script(shell: str) -> str:
    """The script for a shell."""
    words, text = ((_FOLDER / name).read_text(encoding="utf-8") for name in (_WORDS, SHELLS[shell]))
    words = words.replace("@CASES@", "\n".join(map(Case.in_sh, cases()))).rstrip()
    if shell == "fish":  # which has sh find the words
        words = f"{words}\n".replace("\\", "\\\\").replace("'", "\\'")
    return text.replace("@WORDS@", words)


def main(request: Request) -> int:
    """Prints a script."""
    shell = " ".join(request.names)
    if shell not in SHELLS:
        problem = f"completion: no script for '{shell}'" if shell else "completion: name a shell"
        raise SpecError(problem, nearest(shell, SHELLS) or f"write one of {', '.join(SHELLS)}")
    sys.stdout.write(script(shell))
    return 0
