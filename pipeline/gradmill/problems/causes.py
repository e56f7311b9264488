"""Selects the root causes among the problems of a build."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from gradmill.problems.problem import CONTRADICTION, LAST, Problem

_Field = tuple[str, str, tuple[str, ...]]  # a file, an entry of it, a field of that


def causes(problems: Iterable[Problem]) -> list[Problem]:
    """The problems without duplicates and without consequences of other errors. At least one of several errors remains.

    - An entry that cannot be read makes its variants miss each other, and makes its definition miss its function.
    - A definition that cannot be read leaves it unknown what derivatives.yaml requires of the function.
    - A deprecated form that cannot be read leaves its variants without each other.
    - What is wrong in a field is one problem, whichever functions it serves.
    - A suspicious field makes what is derived from the field suspicious, too.
    - Checks between entries have ranks: the first failing check has the cause.
    - Problems of rank `LAST` may follow from any error, so they are dropped if there is another error.
    - A warning never hides an error.
    """
    unique = list({_said(problem): problem for problem in reversed([*problems])}.values())[::-1]
    if any(not p.warning and p.rank < LAST for p in unique):
        unique = [p for p in unique if p.rank < LAST]
    # Only an error nearer to the cause hides another problem: an error of the whole file, then of an entry, then
    # between entries by rank, then of the other file. So the nearest errors are always reported.
    native = [p for p in unique if p.role == "native" and not p.warning and p.rank < CONTRADICTION]
    unreadable = {_base(p.op) for p in native if not p.derived}
    broken = {_base(p.op) for p in native}
    whole = any(p.role in ("native", "tags") and not p.entry and not p.warning for p in unique)  # lookups are unsafe
    # "" stands for any function: an error of the whole file, or of an entry without a name.
    unread = {_base(p.op) if p.entry else "" for p in unique if p.role == "derivatives" and not p.warning}
    forms = {_base(p.op) for p in unique if p.role == "deprecated" and not p.warning and not p.rank}
    suspected = {_field(p) for p in unique if p.warning and not p.derived}
    wrong = {_field(p) for p in unique if p.field and not p.warning}
    at = {(_field(p), p.needle) for p in unique if p.field and not p.warning}
    ruled = {(p.rule, _base(p.op)) for p in unique if p.rule and not p.warning}
    first: dict[_Field, int] = {}
    for problem in native:
        first[_field(problem)] = min(problem.rank, first.get(_field(problem), problem.rank))

    def is_worth_it(problem: Problem) -> bool:
        if problem.warning:
            if not problem.needle and _field(problem) in wrong:
                return False  # the error covers a warning about the whole field
            if (_field(problem), problem.needle) in at or (problem.rule, _base(problem.op)) in ruled:
                return False  # the error says the same
            return not (problem.derived and _field(problem) in suspected)
        if problem.derived and problem.rank > first.get(_field(problem), problem.rank):
            return False
        contradicts = problem.role == "native" and problem.entry and problem.rank == CONTRADICTION
        if contradicts and not unread.isdisjoint(("", _base(problem.op))):
            return False
        if problem.role == "deprecated" and problem.rank and _base(problem.op) in forms:
            return False
        return not _follows(problem, unreadable, broken, whole=whole)

    return list(filter(is_worth_it, unique))


def _said(problem: Problem) -> Problem:
    """The problem without the operator's name, if its place is known."""
    return replace(problem, op="") if problem.entry and problem.needle else problem


def _field(problem: Problem) -> _Field:
    return problem.role, problem.entry, problem.field


def _follows(problem: Problem, unreadable: set[str], broken: set[str], *, whole: bool) -> bool:
    if problem.role == "native":
        return bool(problem.entry) and (whole or (problem.derived and _base(problem.op) in unreadable))
    if problem.role in ("derivatives", "deprecated") and problem.entry and problem.derived:
        return whole or _base(problem.op) in broken
    return False


def _base(op: str) -> str:
    name = op.partition(".")[0].rpartition("::")[2]
    return name.rstrip("_").removesuffix("_copy")
