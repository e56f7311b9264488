"""Errors in the specs as data: what is wrong, where, and what to do.

A rule raises `SpecError` with the field, the problem and a hint. The stage that runs the rule adds the op and the
entry, and stores the result as a `Problem`. Only `gradmill.problems.locate` converts an entry and a field to
`file:line:column`, and only to report a problem.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from gradmill.doors import extensions
from gradmill.problems.names import Hint, nearest

__all__ = ["Errors", "Problem", "Role", "SpecError", "TextError", "all_of", "at_field", "nearest", "problem_of"]

# Of files, in the order of reports: those of a spec set, with those that extensions read, then others.
_OfSets = Literal[
    "native",
    "tags",
    "derivatives",
    "deprecated",
    "backend",
    "shape_inference",
    "backend_kernels",
    "external_backend",
    "external_kernels",
    "marks",
    "fallback_ops",
    "native_aot",
]
_OfOthers = Literal[
    "template",
    "added",
    "operators",
    "set",
    "hooks",
    "generator",
]
if TYPE_CHECKING:
    Role = _OfSets | _OfOthers
else:
    Role = Literal[(_OfSets, *(role for each in extensions().values() for role in each.files), _OfOthers)]


class SpecError(Exception):
    """An author's error, as a rule reports it.

    `field` is the path of YAML keys inside the entry. `needle` is the piece of the field's text to point at; `at_key`
    points at the key instead. `others` are further errors of the same rule. `role`, `entry` and `op` are set if the
    error is in another entry than the one the rule checks. `follows` is set if the error may follow from any other one.
    `releases` are those that have no such error, if that is known. `rule` is the name of this kind of error for
    programs. `fix` is the text at the place and its replacement, set only if that is certain; a `Hint` that is certain
    of a name brings its own. `see` is a related function, and the text to point at in its entry. `rendered` means that
    `problem` is a finished report.
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
        self.entry = ""
        self.op = ""
        self.follows = False
        self.releases: tuple[str, ...] = ()


class TextError(SpecError):
    """A text that cannot be read, at a known place. Lines and columns count from 1."""

    def __init__(self, problem: str, hint: str, line: int, column: int) -> None:
        super().__init__(problem, hint)
        self.line = line
        self.column = column

    def in_file(self, file: str) -> SpecError:
        """The error with its place in the problem, for a file that is not the spec set's."""
        return SpecError(f"{file}:{self.line}:{self.column}: {self.problem}", self.hint)


class Errors:
    """The errors of checks that do not depend on one another: each runs in this context."""

    def __init__(self) -> None:
        self.found: list[SpecError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, SpecError):
            return False
        self.add(error)
        return True

    def add(self, error: SpecError) -> None:
        """Adds an error, with those behind it."""
        self.found += [error, *error.others]
        error.others = []

    def check(self) -> None:
        """Raises one SpecError for all errors so far, if there are any."""
        if self.found:
            raise all_of(self.found)


@contextmanager
def at_field(*field: str) -> Iterator[None]:
    """Puts a path of keys in front of the field of an error, and of those behind it."""
    try:
        yield
    except SpecError as error:
        for each in (error, *error.others):
            each.field = (*field, *each.field)
        raise


def all_of(errors: list[SpecError]) -> SpecError:
    """The first of the errors, with the rest as its `others`."""
    errors[0].others = [*errors[0].others, *errors[1:]]
    return errors[0]


# Ranks of problems: between the overloads of a Python name; a function contradicts its derivatives; a problem that may
# follow from any error.
BETWEEN, CONTRADICTION, LAST = 7, 8, 9


class Problem(Struct, frozen=True, gc=False, omit_defaults=True):
    """One error, or one warning (`warning`), in one entry of a spec file."""

    role: Role
    entry: str  # the key of the entry in its file, "" for the whole file
    op: str
    problem: str
    hint: str = ""
    field: tuple[str, ...] = ()
    needle: str = ""
    warning: bool = False
    line: int = 0  # counted from 1; set if the YAML parser reported the place
    column: int = 0
    file: str = ""  # the file's name, for templates and files that extensions read
    derived: bool = False  # from a check between entries: may follow from an error in one of them
    rank: int = 0  # of a check between entries: if it fails, so do the checks of higher rank
    at_key: bool = False
    rule: str = ""  # the name of this kind of problem for programs; "" means the role
    fix: tuple[str, str] | None = None  # the text at the place and its replacement, if certain
    releases: tuple[str, ...] = ()  # that have no such problem, if that is known
    see: tuple[Role, str, str] | None = None  # a related place: an entry of a file, a piece of its text

    def __post_init__(self) -> None:
        if isinstance(self.hint, Hint):
            force_setattr(self, "fix", self.fix or self.hint.fix)
            force_setattr(self, "hint", str(self.hint))


def problem_of(
    error: SpecError, role: Role, entry: str, op: str, *, warning: bool = False, derived: bool = False
) -> Problem:
    """The `Problem` for an error in entry `entry` of the file with role `role`."""
    said = {name: getattr(error, name) for name in _SAID}
    return Problem(role, entry, op, warning=warning, derived=derived, rank=LAST if error.follows else 0, **said)


_SAID = ("problem", "hint", "field", "needle", "at_key", "rule", "fix", "releases")  # fields of both
