"""Errors for unknown words of the command line, with hints: the nearest command, name, option or variable.

Each check raises a SpecError, unless the words are valid.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from gradmill.problems.plain import escaped
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.settings.variables import VARIABLES, no_such_variable

_ALL = "gradmill list --all lists the stages, units and files"
_COMMANDS = "gradmill help lists the commands, gradmill list --all the stages, units and files"
GROUPS = ("emit:", "shard:")  # what the names of units and files begin with
NEAR = 0.7  # the least difflib ratio of a suggestion: a word of another kind is no misspelt one


def no_such_name(name: str, known: Sequence[str], commands: Iterable[str] = ()) -> SpecError:
    """The error for what is no stage, unit or file, nor one of these commands, which may be misspelt."""
    if commands := tuple(commands):
        hint = nearest(name, [*commands, *known], near=NEAR) or _COMMANDS
        return SpecError(f"there is no command, stage, unit or file '{name}'", hint)
    return SpecError(f"there is no stage, unit or file '{name}'", nearest(name, known, near=NEAR) or _ALL)


def matching(word: str, known: Sequence[str]) -> list[str]:
    """The names that a pattern, a word with `*`, matches. SpecError if there are none."""
    matched = fnmatch.filter(known, word)
    if not matched:
        hint = nearest(word.replace("*", ""), known) or _ALL
        raise SpecError(f"nothing matches '{word}'", hint)
    return matched


def check_words(words: Sequence[str]) -> None:
    """SpecError for an empty word, and one with a control character: no option and no name has one."""
    if not all(words):
        raise SpecError("'': an argument is empty", "leave it out, or write a name")
    named = (word for word in words if word.startswith("-") or "=" not in word)
    if odd := next((word for word in named if escaped(word) != word), ""):
        raise SpecError(f"there is no '{odd}'", "it has a character that cannot be printed")


def check_variables(words: Iterable[str], removed: Iterable[tuple[str, str]] = ()) -> None:
    """SpecError for an unknown variable. `removed`: those of earlier versions, with what to do now."""
    for word in words:
        name, sign, value = word.partition("=")
        if sign and not word.startswith("-") and name not in VARIABLES:
            problem, hint = no_such_variable(name, value)
            raise SpecError(problem, dict(removed).get(name) or hint)


def check_options(words: Sequence[str], own: Iterable[str], *, near: bool = False) -> None:
    """SpecError for an option that should be a variable: `--cache=DIR`. `own`: the names of the command's options;
    `near`: names that are near to that of a variable are reported, too."""
    for word, following in zip(words, [*words[1:], ""]):
        name, _, value = word.removeprefix("--").partition("=")
        variable = name if name in VARIABLES or not near else nearest(name, VARIABLES, what="", near=NEAR).strip(" '?")
        if word.startswith("--") and variable in VARIABLES and name not in own:
            raise SpecError(f"{word}: there is no such option", f"write {variable}={value or following or '…'}")
