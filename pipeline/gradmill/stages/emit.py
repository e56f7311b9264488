"""Stage `emit:<unit>`: one unit to its pieces of C++ text, from its subject: the part of a function or an info that the
family prints."""

from msgspec.structs import replace

from gradmill.families.family import DERIVATIVES, OUTPUTS, BackendFamily, Family
from gradmill.families.table import FAMILIES
from gradmill.families.template import tidy
from gradmill.problems.problem import BETWEEN, CONTRADICTION, Problem, Role, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.kernels import definition_of
from gradmill.stages.kinds.kind import found
from gradmill.stages.schemas import entry_of, function
from gradmill.stages.set import defines, release
from gradmill.stages.units import unit


@query
def text(db: Database, family: str, name: str) -> dict[str, str]:
    """The text of a unit in pieces, each as in a block without indentation."""
    return _tidy(db, rendered(db, family, name))


def with_markers(db: Database, family: str, name: str) -> dict[str, str]:
    """The text of a unit in pieces, each formula between markers that name its field of the unit's entry."""
    return _tidy(db, rendered(db, family, name, markers=True))


def _tidy(db: Database, pieces: dict[str, str]) -> dict[str, str]:
    trim = release(db).trims_lines
    return {piece: tidy(own, trim=trim) for piece, own in pieces.items()}


@query
def raw_text(db: Database, family: str, name: str) -> dict[str, str]:
    """The same, kept: an edit renders one unit of a raw file."""
    return rendered(db, family, name)


def rendered(db: Database, family: str, name: str, *, markers: bool = False) -> dict[str, str]:
    """The text of a unit in pieces, each as within a line; none if the unit has errors. `markers`: as of `render`."""
    pieces = upstream_pieces(db, family, name, markers=markers)
    described = FAMILIES[family].described and release(db).described
    member = unit(db, family, name) if pieces and described else None
    if member is None:
        return pieces
    from gradmill.stages.layered.overridden_units import replaced_pieces, with_slots

    pieces = replaced_pieces(db, family, member, pieces)
    if defines(db, "unit"):
        from gradmill.stages.layered.hooks import changed

        pieces = changed(db, family, member.function, pieces)
    return with_slots(db, family, member, pieces)


def upstream_pieces(db: Database, family: str, name: str, *, markers: bool = False) -> dict[str, str]:
    """The pieces of a unit before any override of a description. `markers`: as of `render`."""
    kind = FAMILIES[family]
    subject = found(kind.subject)(db, name)
    if subject is None:
        return {}
    try:
        return kind.render(subject, release(db), markers=markers)
    except SpecError as error:
        for each in (error, *error.others):
            problem = problem_of(each, *_place(db, family, name, each))
            if isinstance(kind, BackendFamily):
                from gradmill.stages.backend import placed

                problem = placed(db, kind.role, name, problem)
            db.report(_ranked(problem, kind))
        return {}


def _place(db: Database, family: str, name: str, error: SpecError) -> tuple[Role, str, str]:
    """The place of an error in a unit: the role of the file, the entry, and the operator's name."""
    if error.role is not None and error.entry:
        return error.role, error.entry, error.op
    member = unit(db, family, name)
    assert member is not None
    if error.op and error.role is None:
        functions = {name: own for name in member.functions if (own := function(db, name)) is not None}
        named = (name for name, own in functions.items() if str(own.func.name) == error.op)
        return member.role, entry_of(next(named, member.function)), error.op
    place = definition_of(db, member.function) if error.role == "derivatives" else None
    return place or (member.role, member.entry, member.overload)


def _ranked(problem: Problem, kind: Family) -> Problem:
    """A problem of a unit with its rank. It may follow from an error in the function, or in the derivatives of the
    subject."""
    if problem.role == "derivatives":
        return replace(problem, derived=True)
    if kind.unit == "binding":
        return replace(problem, derived=True, rank=problem.rank or BETWEEN)
    if problem.role != "native" or problem.rank or kind.subject not in (DERIVATIVES, OUTPUTS):
        return problem
    return replace(problem, rank=CONTRADICTION)
