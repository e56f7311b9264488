"""Errors for unknown words of the command line, with hints: the nearest command, task or option.

Each check returns the message, "" if the words are valid.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from doit.exceptions import InvalidCommand

from pipeline.front.settings.variables import VARIABLES, no_such_variable
from pipeline.problems.plain import escaped, line
from pipeline.problems.problem import nearest

SCRIPTS = "generate-code", "torchgen", "backend-stubs"  # commands with the arguments of a script of PyTorch
OPTIONS = {  # commands with options that have the name of a variable
    "coverage": ("format",),
    "diff": ("format",),
    "verify": ("format",),
    **dict.fromkeys(SCRIPTS, ("stamp", "depfile", "outputs")),
}
_ALL_TASKS = "gradmill list --all lists the tasks"
GROUPS = ("emit:", "shard:")  # groups of tasks that exist only after other tasks ran


def two_lines(problem: str, hint: str) -> str:
    """A message for the command line: the problem, and below it the hint, if any."""
    return "\n  ".join(map(line, filter(None, (problem, hint))))


def unknown_word(words: Sequence[str], tasks: Iterable[str], commands: Iterable[str]) -> str:
    """The error for the first word of a run that names no task."""
    tasks = list(tasks)
    for word in words:
        known = [*commands, *tasks] if word is words[0] else tasks
        if word in tasks or word.startswith((*GROUPS, "-")) or "*" in word:
            continue
        hint = nearest(word, known) or "gradmill help lists the commands, gradmill list --all the tasks"
        return two_lines(f"there is no {'command or ' if word is words[0] else ''}task '{word}'", hint)
    return ""


def unknown_task(name: str, tasks: Sequence[str]) -> str:
    """The error for the name of a task that does not exist."""
    if name in tasks:
        return ""
    hint = "options come before the names of tasks" if name.startswith("-") else nearest(name, tasks) or _ALL_TASKS
    return two_lines(f"there is no task '{name}'", hint)


def without_patterns(words: Iterable[str], tasks: Sequence[str]) -> list[str]:
    """The names of tasks, with each pattern (a word with `*`) replaced by the tasks that match it. A task is left
    out if its group is named too. InvalidCommand if a pattern matches no task."""
    selected: dict[str, None] = {}
    for word in words:
        matched = fnmatch.filter(tasks, word) if "*" in word else [word]
        if not matched:
            near = nearest(word.replace("*", ""), tasks) or _ALL_TASKS
            raise InvalidCommand(two_lines(f"no task matches '{word}'", near))
        selected.update(dict.fromkeys(matched))
    return [name for name in selected if name == (group := name.partition(":")[0]) or group not in selected]


def empty_word(words: Iterable[str]) -> str:
    """The error for an empty word of the command line, with a hint on a second line; "" if there is none."""
    return "" if all(words) else "'': an argument is empty\n  leave it out, or write a name"


def odd_word(words: Iterable[str]) -> str:
    """The error for the first word with a control character: no option and no task has one."""
    odd = next((word for word in words if escaped(word) != word), "")
    return two_lines(f"there is no '{odd}'", "it has a character that cannot be printed") if odd else ""


def unknown_variable(words: Iterable[str]) -> str:
    """The error for the first unknown variable."""
    for word in words:
        name, sign, value = word.partition("=")
        if sign and not word.startswith("-") and name not in VARIABLES:
            return two_lines(*no_such_variable(name, value))
    return ""


def unknown_option(words: Iterable[str], *, exact: bool = False) -> str:
    """The error for the first option that should be a variable (`--cache=DIR`). `exact`: only options with the name of
    a variable."""
    words = list(words)
    own = [name for word in words for name in OPTIONS.get(word, ())] if exact else ()
    for word, following in zip(words, [*words[1:], ""]):
        name, _, value = word.removeprefix("--").partition("=")
        near = name if name in VARIABLES or exact else nearest(name, VARIABLES, what="").strip(" '?")
        if word.startswith("--") and near in VARIABLES and near not in own:
            return two_lines(f"{word}: there is no such option", f"write {near}={value or following or '…'}")
    return ""
