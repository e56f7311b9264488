"""Checks of hooks: whether they change a unit, and whether they return the same when they are called again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradmill.families.hook_files.process import Answer, process
from gradmill.families.table import FAMILIES
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.memo import digest, encode
from gradmill.query.query import query
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.layered.hooks import calls, changed, functions, modules, report, seen
from gradmill.stages.layered.overridden_units import replaced_pieces
from gradmill.stages.requested import families
from gradmill.stages.set import defines, hooks
from gradmill.stages.units import units

_SEEDS = (1, 2)  # of two processes that are compared
Call = tuple[str, str, str, tuple[Any, ...]]  # a hook, the operator, what of it, the arguments


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
    listed = list(_all_calls(db)) if hooks(db) is not None else []
    first = [_digest(db, _SEEDS[0], each) for each in listed]
    second = [_digest(db, _SEEDS[1], each) for each in reversed(listed)]
    for (hook, op, what, _), one, other in zip(listed, first, reversed(second)):
        if one != other:
            error = "it returned two values for the same arguments"
            hint = "use no clock, random number, order of a set or earlier call"
            report(db, hook, op, what, Answer(error=error), hint)
            return False
    return True


def _digest(db: Database, seed: int, call: Call) -> bytes:
    """The digest of what a call returns in the process of a seed."""
    hook, _, _, arguments = call
    return digest(encode(process(modules(db), seed).call(hook, *arguments)))


def _all_calls(db: Database) -> Iterator[Call]:
    """All calls of hooks."""
    for family in families(db):
        for each in units(db, family) if FAMILIES[family].described else ():
            own = seen(db, each.function) if each.function else None
            if own is None:
                continue
            if defines(db, "select"):
                yield "select", own["operator"], family, (own, family)
            if defines(db, "unit"):
                pieces = replaced_pieces(db, family, each, upstream_pieces(db, family, each.name))
                for _, arguments in calls(db, family, own, pieces):
                    yield "unit", own["operator"], f"{family}, {arguments[1]}", arguments
    if defines(db, "files"):
        yield "files", "", "", functions(db)
