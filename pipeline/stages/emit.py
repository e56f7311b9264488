"""Stage `emit:<unit>`: one unit to its pieces of C++ text.

What is printed is planned first, from the unit's subject: no more of a function or an info than the family prints.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from pipeline.families.table import FAMILIES
from pipeline.families.template import tidy
from pipeline.problems.problem import SERVED, Problem, Role, SpecError, problems_of
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.stages.kernels import definition_of, outputs, served_function
from pipeline.stages.match import reverse
from pipeline.stages.schemas import function
from pipeline.stages.set import release
from pipeline.stages.units import unit


def _graph(db: Database, name: str) -> Any:
    from pipeline.stages.graph_text import pieces  # much code, for those who have graphs

    return pieces(db, name)


_SUBJECTS: dict[str, Callable[[Database, str], Any]] = {
    "reverse": reverse,
    "function": function,
    "derivatives": served_function,
    "outputs": outputs,
    "graph": _graph,
}


@query
def text(db: Database, family: str, name: str) -> dict[str, str]:
    """The text of a unit, in pieces, each as it stands in a block that is not indented."""
    trim = release(db).trims_lines
    return {piece: tidy(found, trim=trim) for piece, found in rendered(db, family, name).items()}


def marked(db: Database, family: str, name: str) -> dict[str, str]:
    """The same with marks around its formulas, that say which field of the unit's entry each is."""
    trim = release(db).trims_lines
    found = rendered(db, family, name, marks=True)
    return {piece: tidy(each, trim=trim) for piece, each in found.items()}


def rendered(db: Database, family: str, name: str, *, marks: bool = False) -> dict[str, str]:
    """The text of a unit as it stands within a line; none where there is something wrong."""
    pieces = upstream_pieces(db, family, name, marks=marks)
    described = FAMILIES[family].described and release(db).described
    found = unit(db, family, name) if pieces and described else None
    if found is None:
        return pieces
    from pipeline.stages.layered.asking import overridden_unit

    return overridden_unit(db, family, found, pieces)


def upstream_pieces(db: Database, family: str, name: str, *, marks: bool = False) -> dict[str, str]:
    """The pieces of a unit before any override of a description."""
    kind, facts = FAMILIES[family], release(db)
    subject = _SUBJECTS[kind.subject](db, name)
    if subject is None:
        return {}
    try:
        plan = kind.plan(subject, facts)
        return kind.render(kind.marked(plan) if marks and kind.marked else plan, facts)
    except SpecError as error:
        for problem in problems_of(error, *_place(db, family, name, error)):
            db.report(_ranked(problem, kind.subject))
        return {}


def _place(db: Database, family: str, name: str, error: SpecError) -> tuple[Role, str, str]:
    """Where a mistake in a unit is written: the file, the entry, and what operator it is for."""
    found = unit(db, family, name)
    assert found is not None
    place = definition_of(db, found.function) if error.role == "derivatives" else None
    return place or (found.role, found.entry, found.op)


def _ranked(problem: Problem, subject: str) -> Problem:
    """A problem of a unit. It may follow from what is wrong with its function, or, where a function is seen with its
    derivatives, from derivatives that could not be read."""
    if problem.role == "derivatives":
        return replace(problem, derived=True)
    if problem.role != "native" or problem.rank or subject not in ("derivatives", "outputs"):
        return problem
    return replace(problem, rank=SERVED)
