"""Problems, placed and in order: what every format of a report is written from."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import astuple

from pipeline.problems.locate import Place, Sources, place_of, seen, sure
from pipeline.problems.problem import Problem


class Placed(Struct, frozen=True):
    """A problem, and where it is."""

    place: Place
    problem: Problem

    @property
    def message(self) -> str:
        """The operator, the field and what is wrong."""
        problem = self.problem
        return ": ".join(part for part in (problem.op, ": ".join(problem.field), problem.problem) if part)


class Report(Struct, frozen=True):
    """All problems of a run, in the order of the files. `notes` are what else there is to say, about no file."""

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
        """What a problem counts as: `error` or `warning`."""
        return "warning" if problem.warning and not self.strict else "error"


def report_of(
    problems: Iterable[Problem], sources: Sources, *, strict: bool = False, most: int | None = None, notes: str = ""
) -> Report:
    """The report of `problems`, of which `most` are placed: to place one, its file is read again."""
    # By all that they say: the order of a set depends on the hash seed.
    found = sorted(set(problems), key=lambda p: (p.warning, p.role, p.entry, p.line, astuple(p)))
    each = (Placed(place_of(p, sources), seen(sure(p, sources), sources)) for p in found[:most])
    placed = sorted(each, key=lambda p: (p.place, p.problem.problem))
    errors = sum(not p.warning for p in found)
    return Report(tuple(placed), errors, len(found) - errors, strict, (notes,) if notes else ())
