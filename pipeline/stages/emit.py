"""Stage `emit:<unit>`: one unit to its pieces of C++ text.

What is printed is planned first, from the unit's subject: no more of a function or an info than the family prints.
"""

from collections.abc import Callable
from typing import Any

from pipeline.families.table import FAMILIES
from pipeline.families.template import tidy
from pipeline.model.kernels import Served
from pipeline.model.units import Unit
from pipeline.problems.problem import SpecError, problems_of
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.stages.match import definition_of, outputs, reverse, served
from pipeline.stages.schemas import function
from pipeline.stages.set import release
from pipeline.stages.units import unit

_SUBJECTS: dict[str, Callable[[Database, Unit], Any]] = {
    "reverse": lambda db, unit: reverse(db, unit.function, unit.dispatch_key),
    "function": lambda db, unit: function(db, unit.function),
    "derivatives": lambda db, unit: _served(db, unit.function),
    "outputs": lambda db, unit: outputs(db, unit.function),
}


def _served(db: Database, name: str) -> Served | None:
    native = function(db, name)
    return None if native is None else Served(native, served(db, name))


@query
def text(db: Database, family: str, name: str) -> dict[str, str]:
    """The text of a unit, in pieces, each as it stands in a block that is not indented."""
    trim = release(db).trims_lines
    return {piece: tidy(found, trim=trim) for piece, found in rendered(db, family, name).items()}


def rendered(db: Database, family: str, name: str) -> dict[str, str]:
    """The text of a unit as it stands within a line; none where there is something wrong."""
    found = unit(db, family, name)
    kind, facts = FAMILIES[family], release(db)
    subject = None if found is None else _SUBJECTS[kind.subject](db, found)
    if found is None or subject is None:
        return {}
    try:
        return kind.render(kind.plan(found, subject, facts), facts)
    except SpecError as error:
        place = definition_of(db, found.function) if error.role == "derivatives" else None
        for problem in problems_of(error, *(place or (found.role, found.entry, found.op))):
            db.report(problem)
        return {}
