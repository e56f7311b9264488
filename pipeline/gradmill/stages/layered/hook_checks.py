"""Checks of hooks: whether they change a unit, and whether they return the same when they are called again."""

from collections.abc import Iterator

from gradmill.families.table import FAMILIES
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.memo import digest, encode
from gradmill.query.query import query
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.layered.hooks import Call, changed, changing, report, seen, selecting, value, writing
from gradmill.stages.layered.overridden_units import replaced_pieces
from gradmill.stages.requested import families
from gradmill.stages.set import defines, hooks
from gradmill.stages.units import units


def changes(db: Database, family: str, member: Unit) -> bool:
    """Whether `unit` changes the text of a unit."""
    if not defines(db, "unit") or not FAMILIES[family].described:
        return False
    before = replaced_pieces(db, family, member, upstream_pieces(db, family, member.name))
    return changed(db, family, member.function, before) != before


@query
def pure(db: Database) -> bool:
    """Whether all hooks return the same twice: in two processes, of which the second calls them in reverse order.
    Reports the first that does not."""
    calls = list(_all_calls(db)) if hooks(db).lines else []
    first = [digest(encode(value(db, each, 1))) for each in calls]
    second = [digest(encode(value(db, each, 2))) for each in reversed(calls)]
    for call, one, other in zip(calls, first, reversed(second)):
        if one != other:
            error = "it returned two values for the same arguments"
            hint = "use no clock, random number, order of a set or earlier call"
            report(db, call, error, hint=hint)
            return False
    return True


def _all_calls(db: Database) -> Iterator[Call]:
    """All calls of hooks."""
    for family in families(db):
        for each in units(db, family) if FAMILIES[family].described else ():
            own = seen(db, each.function) if each.function else None
            if own is not None and defines(db, "select"):
                yield selecting(own, family)
            if own is not None and defines(db, "unit"):
                pieces = replaced_pieces(db, family, each, upstream_pieces(db, family, each.name))
                yield from changing(db, family, own, pieces).values()
    if defines(db, "files"):
        yield writing(db)
