"""Of the problems of a build, those that are worth an author's time."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.problems.problem import LAST, SERVED, Problem

_Field = tuple[str, str, tuple[str, ...]]  # a file, an entry of it, a field of that


def causes(problems: Iterable[Problem]) -> list[Problem]:
    """Each once, without what only follows from another mistake; where there is a mistake, one is told.

    When one entry of an operator cannot be read, its variants miss each other, and its definition misses its function.
    What definitions that cannot be read say of a function, is not known either.
    When a field is suspicious by itself, so is what comes of it. Of checks between entries, the first one that fails
    says what is wrong. What may follow from any mistake is told where there is no other. A suspicion hides no mistake.
    """
    found = list(dict.fromkeys(problems))
    if any(not p.warning and p.rank < LAST for p in found):
        found = [p for p in found if p.rank < LAST]
    # What hides another is an error, and nearer to the cause: an error of the whole file, then of an entry, then
    # between entries by rank, then of the other file. So the nearest ones are always told.
    native = [p for p in found if p.role == "native" and not p.warning and p.rank < SERVED]
    unreadable = {_base(p.op) for p in native if not p.derived}
    broken = {_base(p.op) for p in native}
    whole = any(p.role in ("native", "tags") and not p.entry and not p.warning for p in found)  # no lookup is sure then
    # Of the file, or of an entry without a name: "", which stands for any function.
    unread = {_base(p.op) if p.entry else "" for p in found if p.role == "derivatives" and not p.warning}
    suspected = {_field(p) for p in found if p.warning and not p.derived}
    wrong = {_field(p) for p in found if p.field and not p.warning}
    first: dict[_Field, int] = {}
    for problem in native:
        first[_field(problem)] = min(problem.rank, first.get(_field(problem), problem.rank))

    def is_worth_it(problem: Problem) -> bool:
        if problem.warning:
            if not problem.needle and _field(problem) in wrong:
                return False  # a mistake says what a suspicion about the whole field says
            return not (problem.derived and _field(problem) in suspected)
        if problem.derived and problem.rank > first.get(_field(problem), problem.rank):
            return False
        served = problem.role == "native" and problem.entry and problem.rank == SERVED
        if served and not unread.isdisjoint(("", _base(problem.op))):
            return False
        return not _follows(problem, unreadable, broken, whole=whole)

    return list(filter(is_worth_it, found))


def _field(problem: Problem) -> _Field:
    return problem.role, problem.entry, problem.field


def _follows(problem: Problem, unreadable: set[str], broken: set[str], *, whole: bool) -> bool:
    if problem.role == "native":
        return bool(problem.entry) and (whole or (problem.derived and _base(problem.op) in unreadable))
    if problem.role == "derivatives" and problem.entry and problem.derived:
        return whole or _base(problem.op) in broken
    return False


def _base(op: str) -> str:
    name = op.partition(".")[0].rpartition("::")[2]
    return name.rstrip("_").removesuffix("_copy")
