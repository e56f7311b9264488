"""Mistakes in the specs, as data: what is wrong, where, and what to do next.

A rule raises `SpecError` with what it knows (the field, the problem, a hint). The stage that runs the rule adds
the op and the entry and keeps the result as a `Problem`. Only `pipeline.problems.locate` turns an entry and a field
into `file:line:column`, and only when there is something to report.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from pipeline.problems.names import Hint, nearest

__all__ = ["Problem", "Role", "SpecError", "TextMistake", "all_of", "nearest", "problem_of", "problems_of"]

Role = Literal["native", "tags", "derivatives", "template", "graph", "set"]


class SpecError(Exception):
    """An author's mistake, as a rule sees it.

    `field` is the path of YAML keys inside the entry, `needle` a piece of that field's text to point at, `at_key` says
    that the key itself is wrong. `others` are more mistakes that the same rule found. `role` is set where the mistake
    is in another file than what the rule was run for, `follows` where it may follow from any other mistake. `rule` is
    what programs know this kind of mistake by. `fix` is what stands at the place and what to write there, where that
    is certain: a hint that is sure of a name says so itself. `see` is a function, and what to look for in its entry,
    that the mistake has to do with. `rendered` says that `problem` is a report, ready to be printed.
    """

    rendered = False

    def __init__(
        self,
        problem: str,
        hint: str = "",
        *,
        field: tuple[str, ...] = (),
        needle: str = "",
        at_key: bool = False,
        rule: str = "",
        fix: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = str(hint)
        self.rule = rule
        self.fix = fix or (hint.fix if isinstance(hint, Hint) else None)
        self.field = field
        self.needle = needle
        self.at_key = at_key
        self.others: list[SpecError] = []
        self.see: tuple[str, ...] = ()
        self.role: Role | None = None
        self.follows = False


class TextMistake(SpecError):
    """What keeps a text from being read; the place is known, lines and columns count from 1."""

    def __init__(self, problem: str, hint: str, line: int, column: int) -> None:
        super().__init__(problem, hint)
        self.line = line
        self.column = column


def all_of(errors: list[SpecError]) -> SpecError:
    """One error that stands for several."""
    errors[0].others = [*errors[0].others, *errors[1:]]
    return errors[0]


# Ranks: of what is wrong with a function as its derivatives have it, and of what may follow from any other mistake.
SERVED, LAST = 8, 9


class Problem(Struct, frozen=True, gc=False, omit_defaults=True):
    """One mistake, or one suspicion (`warning`), in one entry of one spec file."""

    role: Role
    entry: str  # which entry of its file, "" for the file as a whole
    op: str
    problem: str
    hint: str = ""
    field: tuple[str, ...] = ()
    needle: str = ""
    warning: bool = False
    line: int = 0  # 1-based, when the place is known from the YAML parser itself
    column: int = 0
    file: str = ""  # for templates and graphs: the file's name
    derived: bool = False  # found between entries: may follow from a mistake in one of them
    rank: int = 0  # of what was found between entries: what fails a check fails those of a higher rank, too
    at_key: bool = False
    rule: str = ""  # what programs know this kind of problem by; its role, where it has no name
    fix: tuple[str, str] | None = None  # what stands at its place, and what to write there, where that is certain
    see: tuple[str, str] | None = None  # another place to look at: an entry of native_functions.yaml, a piece of it

    def __post_init__(self) -> None:
        if isinstance(self.hint, Hint):
            force_setattr(self, "fix", self.fix or self.hint.fix)
            force_setattr(self, "hint", str(self.hint))


def problem_of(
    error: SpecError, role: Role, entry: str, op: str, *, warning: bool = False, derived: bool = False
) -> Problem:
    """`error`, seen while working on entry `entry` of the `role` file."""
    return Problem(
        role,
        entry,
        op,
        error.problem,
        error.hint,
        error.field,
        error.needle,
        warning,
        derived=derived,
        rank=LAST if error.follows else 0,
        at_key=error.at_key,
        rule=error.rule,
        fix=error.fix,
    )


def problems_of(error: SpecError, role: Role, entry: str, op: str) -> list[Problem]:
    """The same for all that `error` stands for."""
    return [problem_of(each, role, entry, op) for each in (error, *error.others)]
