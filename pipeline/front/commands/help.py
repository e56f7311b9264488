"""`gradmill --help`: the commands by purpose, the variables, examples; `COMMAND --help`: one command."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from doit.cmd_base import Command
from doit.cmd_help import Help as DoitHelp
from doit.exceptions import InvalidCommand

from pipeline import __version__
from pipeline.front.commands.bases import OWN_NAME, Options
from pipeline.front.settings.hints import two_lines
from pipeline.front.settings.variables import VARIABLES
from pipeline.problems.plain import lines
from pipeline.problems.problem import nearest

GROUPS = {  # the title of a group of commands -> its commands
    "generate": ("init", "run", "watch", "check", "verify", "generate-code", "torchgen", "backend-stubs"),
    "understand": ("explain", "rule", "list", "show", "info", "coverage", "diff", "page", "lsp"),
    "for other builds": ("export", "schema", "worker"),
    "clean up": ("gc", "clean", "forget", "ignore", "reset-dep", "dumpdb"),
    "other": ("help", "version", "completion", "strace", "tabcompletion"),
}
_PURPOSES = {  # of commands that doit describes for any project
    "run": "regenerate what changed; the default command",
    "list": "list the stages, units and files, and their state with --status",
    "info": "show the dependencies of a task, and why it would run",
    "clean": "delete the generated files",
    "forget": "discard the results of tasks, so that they run again",
    "ignore": "skip tasks from now on",
    "reset-dep": "refused: dependencies are compared by content, so none can be marked as unchanged",
    "help": "show this page, or the help of a command or task",
    "strace": "refused: `explain` shows what a task reads",
    "tabcompletion": "refused: `completion` prints the script for a shell",
}
_USAGES = {  # of commands that doit describes for any project
    "run": "[TASK …] [variable=value …]",
    "clean": "[TASK …]",
    "forget": "[TASK …]",
    "ignore": "TASK …",
    "reset-dep": "[TASK …]",
    "help": "[COMMAND]",
}
_DESCRIPTIONS = {
    "run": "TASK is a stage, a unit (emit:AddBackward0), a generated file (shard:Functions.cpp) or a pattern of them"
    " (emit:Add*). Without TASK: all.",
    "strace": "The dependencies are recorded as they are read: `explain` and `info` print them.",
    "reset-dep": "",
    "ignore": "A run skips the tasks until `forget` names them.",
    "forget": "Also ends `ignore` for these tasks.",
}
_OPTIONS = {  # command -> the long name of an option -> its meaning; "": it makes no difference for most people
    "run": {
        "always-execute": "run all tasks, even if they are up to date",
        "continue": "run the other tasks after one failed",
        "verbosity": "-v2 prints a line for each unit and each file",
        "reporter": "the form of the output",
        "output-file": "write the output to this file",
        "process": "accepted: a run has one process",
        "single": "run only the named tasks, not those that they depend on",
        "parallel-type": "",
        "pdb": "",
        "auto-delayed-regex": "",
        "failure-verbosity": "",
    },
    "list": {
        "all": "also list each unit and each generated file",
        "quiet": "print only names",
        "status": "print the state of each: (R)un, (U)p-to-date, (I)gnored",
        "private": "",
        "deps": "",
        "template": "",
        "sort": "",
    },
    "clean": {"clean-dep": "", "clean-all": "", "dry-run": "print what would be deleted", "forget": ""},
    "info": {"no-status": "do not print why the task would run"},
    "strace": {"all": "", "keep": ""},
    "tabcompletion": {"hardcode-tasks": ""},
}
_EXAMPLES = {
    "gradmill specs=torch": "generate the autograd C++ of the installed torch",
    "gradmill specs=torch explain exp": "what exp is made from, and why it would run",
    "gradmill specs=mine against=torch diff": "what an edited copy changes",
}
_INTERNAL = ("DB backend", "doit core")  # sections of options that make no difference here
_WIDTH = 100


class Help(Options, DoitHelp):  # type: ignore[misc]
    """doit's command; in `gradmill` with gradmill's pages."""

    def execute(self, params: Any, args: list[str]) -> Any:
        self._word = args[0] if len(args) == 1 else ""
        if self.bin_name != OWN_NAME or self._word not in self.cmds:
            return super().execute(params, args)
        command = self.cmds[self._word](cmds=self._cmds, **self.init_kwargs)
        has_page = type(command).help is not Command.help
        sys.stdout.write(lines(command.help().splitlines() if has_page else page_of(command)))
        return 0

    def print_usage(self, cmds: Any) -> None:
        """Called without a word, and for a word that is not a task. InvalidCommand then."""
        if self.bin_name != OWN_NAME:
            super().print_usage(cmds)
        elif self._word:
            hint = nearest(self._word, cmds) or "gradmill help lists the commands, gradmill list --all the tasks"
            raise InvalidCommand(two_lines(f"there is no command or task '{self._word}'", hint))
        else:
            sys.stdout.write(lines(page({name: command.doc_purpose for name, command in cmds.items()})))


def page(purposes: dict[str, str]) -> list[str]:
    """The lines of the page about gradmill. `purposes`: of the commands, by name."""
    text = [f"gradmill {__version__}: PyTorch's autograd C++ from its YAML, as an incremental build", ""]
    text += ["usage: gradmill [COMMAND] [NAME …] [variable=value …]"]
    text += ["       gradmill COMMAND --help", "       gradmill --version"]
    purposes = {**purposes, **_PURPOSES}
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "of other packages": tuple(name for name in purposes if name not in grouped)}
    for title, commands in groups.items():
        text += ["", title, *_table({name: purposes[name] for name in commands})] if commands else []
    text += ["", "variables", *_table({name: variable.meaning for name, variable in VARIABLES.items()})]
    return [*text, "", "examples", *_table(_EXAMPLES)]


def page_of(command: Any) -> list[str]:
    """The lines of the page about one command."""
    usage = f"usage: {command.bin_name} {command.name} {_USAGES.get(command.name, command.doc_usage)}"
    description = _DESCRIPTIONS.get(command.name, command.doc_description)
    own = _OPTIONS.get(command.name, {})
    text = [
        *textwrap.wrap(usage, _WIDTH, subsequent_indent=" " * 10),
        "",
        *_wrapped(_PURPOSES.get(command.name, command.doc_purpose)),
    ]
    if description:
        text += ["", *_wrapped(description)]
    options = [option for option in command.cmdparser.options if option.section not in _INTERNAL]
    shown = [option for option in options if (option.short or option.long) and own.get(option.long) != ""]
    printed = [line for option in shown for line in _option(option, own.get(option.long, option.help))]
    return [*text, "", "options", *printed] if shown else text


def _option(option: Any, text: str) -> list[str]:
    meaning = " ".join((text % {"default": option.default}).split())
    choices = f" ({', '.join(sorted(option.choices))})" if option.choices else ""
    return [f"  {option.help_param()}", *_wrapped(meaning + choices, 6)]


def _wrapped(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)


def _table(rows: dict[str, str]) -> Sequence[str]:
    width = max(map(len, rows))
    return [f"  {name:{width}}  {meaning}" for name, meaning in rows.items()]
