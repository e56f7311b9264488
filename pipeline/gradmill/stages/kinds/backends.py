"""Functions that a backend outside of ATen has text for, each with the dispatch key of its registration."""

from msgspec.structs import replace

from gradmill.families.family import BackendFamily, Family
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.backend import all_members, members
from gradmill.stages.kinds import functions
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.schemas import buckets, heads


def listed(db: Database, family: Family) -> list[Unit]:
    """All functions that the backend has text for."""
    assert isinstance(family, BackendFamily)
    by_name = {name: head for bucket in db.names(buckets) for name, head in heads(db, bucket)}
    return [
        replace(functions.unit_of(family, each.function, by_name[each.function]), dispatch_key=each.key)
        for each in all_members(db, family.role)
    ]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A function of the backend; None if the backend has no text for it."""
    assert isinstance(family, BackendFamily)
    unit = functions.named(db, family, name)
    member = members.item(db, family.role, name) if unit is not None else None
    return None if unit is None or member is None else replace(unit, dispatch_key=member.key)


KIND = Kind(listed, named)
