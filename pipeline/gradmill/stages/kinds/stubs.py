"""Stubs of kernels that are compiled ahead of time, by dispatch key and operator."""

from msgspec.structs import replace

from gradmill.families.family import Family
from gradmill.grammar.buckets import bucket_of
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.native_aot import base_of, declarations
from gradmill.stages.operators import operators


def listed(db: Database, family: Family) -> list[Unit]:
    """All stubs."""
    return [unit for name in db.names(declarations) if (unit := named(db, family, name)) is not None]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A stub as a unit, of the first function of its operator; None if there is none."""
    own = declarations.item(db, name)
    members = operators.item(db, bucket_of(base_of(own)), base_of(own)) if own is not None else None
    if own is None or members is None:
        return None
    unit = replace(members.unit(name), title=f"{own.op}_aot_stub", dispatch_key=own.key)
    return replace(unit, overload=own.op, functions=())


def of_function(db: Database, family: Family, identity: str) -> list[str]:
    """The stubs of a function's operator, by the operator's first function."""
    return [unit.name for unit in listed(db, family) if unit.function == identity]


KIND = Kind(listed, named, of_function=of_function)
