"""Problems in order and with their positions: the data that every report format renders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import astuple, replace

from gradmill.problems.catalog.verification import WRONG
from gradmill.problems.locate import Position, Sources, position_of, with_reference, with_safe_fix
from gradmill.problems.problem import Problem


def counted(path: Iterable[str]) -> list[str]:
    """A path of keys and indices of a description as people read it: they count from 1."""
    return [str(int(key) + 1) if key.isdecimal() else key for key in path]


class Placed(Struct, frozen=True):
    """A problem and its position."""

    place: Position
    problem: Problem

    @property
    def message(self) -> str:
        """The operator, the field and what is wrong."""
        problem = self.problem
        field = counted(problem.field) if problem.role == "set" else problem.field
        return ": ".join(part for part in (problem.op, ": ".join(field), problem.problem) if part)

    @property
    def rule(self) -> str:
        """The name of this kind of problem."""
        return self.problem.rule or self.problem.role

    @property
    def titled(self) -> str:
        """The message; that of a warning, and of a wrong derivative, has the name of its rule in brackets."""
        return f"{self.message} [{self.rule}]" if self.problem.warning or self.rule == WRONG else self.message


class Report(Struct, frozen=True):
    """All problems of a run, in the order of the files. `notes` are remarks that concern no file."""

    placed: tuple[Placed, ...]
    errors: int
    warnings: int
    strict: bool = False
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether these problems stop a build."""
        return bool(self.errors or (self.strict and self.warnings))

    def level(self, problem: Problem) -> str:
        """The severity of a problem: `error` or `warning`; `strict` turns warnings into errors."""
        return "warning" if problem.warning and not self.strict else "error"


def report_of(
    problems: Iterable[Problem],
    sources: Sources,
    *,
    strict: bool = False,
    most: int | None = None,
    notes: Iterable[str] = (),
) -> Report:
    """The report of `problems`. Only the first `most` get a position, because locating one reads its file again."""
    # Sorted by all fields: the order of a set depends on the hash seed.
    ordered = _once(sorted(set(problems), key=lambda p: (p.warning, p.role, p.entry, p.line, astuple(p))))
    each = (Placed(position_of(p, sources), with_reference(with_safe_fix(p, sources), sources)) for p in ordered[:most])
    placed = sorted(each, key=lambda p: (p.place, p.problem.problem))
    errors = sum(not p.warning for p in ordered)
    return Report(tuple(placed), errors, len(ordered) - errors, strict, tuple(filter(None, notes)))


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """The problems, with one for all calls of a hook that fail alike at a line: it may fail for every function."""
    calls: dict[tuple[str, int, str], list[Problem]] = {}
    for each in problems:
        if each.role == "hooks":
            calls.setdefault((each.file, each.line, each.problem), []).append(each)
    counted = {
        same[0]: replace(same[0], problem=f"{same[0].problem}, in {len(same)} calls")
        for same in calls.values()
        if len(same) > 1
    }
    left_out = {each for same in calls.values() for each in same[1:]}
    return [counted.get(each, each) for each in problems if each not in left_out]
