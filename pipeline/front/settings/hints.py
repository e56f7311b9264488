"""What somebody may have meant who wrote a word that is no command, no task and no option."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from doit.exceptions import InvalidCommand

from pipeline.front.settings.config import VARIABLES, no_such_variable
from pipeline.problems.plain import escaped, line
from pipeline.problems.problem import nearest

REPORTS = ("coverage", "diff")  # commands that have an option of the name of a variable, too
_ALL_TASKS = "doit list --all lists the tasks"
GROUPS = ("emit:", "shard:")  # of tasks that are not known before others have run


def two_lines(problem: str, hint: str) -> str:
    """What is wrong with the command line, and what to do."""
    return "\n  ".join(map(line, filter(None, (problem, hint))))


def unknown_word(words: Sequence[str], tasks: Iterable[str], commands: Iterable[str]) -> str:
    """What is wrong with the first word of a run that names no task, "" where all may."""
    tasks = list(tasks)
    for word in words:
        known = [*commands, *tasks] if word is words[0] else tasks
        if word in tasks or word.startswith((*GROUPS, "-")) or "*" in word:
            continue
        hint = nearest(word, known) or "doit help lists the commands, doit list --all the tasks"
        return two_lines(f"there is no {'command or ' if word is words[0] else ''}task '{word}'", hint)
    return ""


def unknown_task(name: str, tasks: Sequence[str]) -> str:
    """What is wrong with the name of a task, "" where there is one."""
    if name in tasks:
        return ""
    hint = "options stand before the names of tasks" if name.startswith("-") else nearest(name, tasks) or _ALL_TASKS
    return two_lines(f"there is no task '{name}'", hint)


def without_patterns(words: Iterable[str], tasks: Sequence[str]) -> list[str]:
    """The names of tasks that words stand for: a word with `*` for those that match it, and a group for its tasks.
    InvalidCommand where none matches."""
    found: dict[str, None] = {}
    for word in words:
        matched = fnmatch.filter(tasks, word) if "*" in word else [word]
        if not matched:
            near = nearest(word.replace("*", ""), tasks) or _ALL_TASKS
            raise InvalidCommand(two_lines(f"no task matches '{word}'", near))
        found.update(dict.fromkeys(matched))
    return [name for name in found if name == (group := name.partition(":")[0]) or group not in found]


def empty_word(words: Iterable[str]) -> str:
    """What is wrong with a word of no letters, "" where there is none."""
    return "" if all(words) else "'': an empty word names nothing\n  leave it out, or say what is meant"


def odd_word(words: Iterable[str]) -> str:
    """What is wrong with a word that has a control character, "" where none has: no option and no task has one."""
    odd = next((word for word in words if escaped(word) != word), "")
    return two_lines(f"there is no '{odd}'", "it has a character that cannot be printed") if odd else ""


def unknown_variable(words: Iterable[str]) -> str:
    """What is wrong with the first variable that there is not, "" where all are known."""
    for word in words:
        name, sign, value = word.partition("=")
        if sign and not word.startswith("-") and name not in VARIABLES:
            return two_lines(*no_such_variable(name, value))
    return ""


def unknown_option(words: Iterable[str], *, exact: bool = False) -> str:
    """What is wrong with the first option that means a variable, "" where there is none. `exact`: it has its name."""
    words = list(words)
    own = ("format",) if exact and any(word in REPORTS for word in words) else ()
    for word, following in zip(words, [*words[1:], ""]):
        name, _, value = word.removeprefix("--").partition("=")
        near = name if name in VARIABLES or exact else nearest(name, VARIABLES, what="").strip(" '?")
        if word.startswith("--") and near in VARIABLES and near not in own:
            return two_lines(f"{word}: there is no such option", f"write {near}={value or following or '…'}")
    return ""
