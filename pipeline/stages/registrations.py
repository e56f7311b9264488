"""What is registered for each dispatch key: kernels of which groups of functions. Part of the stage `schemas`.

torchgen: `gen.gen_source_files`.
"""

from msgspec import Struct

from pipeline.model.native import RegisteredKernels
from pipeline.model.units import Unit
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.dispatch.groups import MADE, Group, served
from pipeline.stages.native_aot import compiled_ahead
from pipeline.stages.operators import kernel_keys
from pipeline.stages.schemas import bucket_of_function, buckets, entry_of, function, in_order
from pipeline.stages.selection import with_kernels
from pipeline.stages.set import release
from pipeline.stages.variants import group_of, groups


class Registered(Struct, frozen=True, array_like=True):
    """A group of functions that has kernels for a key."""

    functions: list[str]  # by identity, in the order of the group
    operator: str  # the base name
    op: str  # the name of the first
    declared: bool  # whether a function has a kernel for the key, or a structured one stands for it
    selected: bool  # whether a kernel of a selected function is registered
    before: str  # the first function with its signature, whose place in the file it has


@table
def registrations(db: Database, bucket: str) -> dict[str, Registered]:
    """What is registered for the functions of a bucket, by dispatch key and first function."""
    chosen = with_kernels(db, bucket)
    found = {}
    for first, members in groups(db, bucket).items():
        names, group = members.functions, group_of(db, members)
        if group is not None:
            own_chosen = [own for name, own in zip(names, group.functions) if chosen is None or name in chosen]
            for key, declared in _keys(db, group):
                selected = any(own in own_chosen for own in served(group, key))
                named = members.operator, members.op
                found[f"{key} {first}"] = Registered(names, *named, declared, selected, members.before)
    return found


@query
def registered_keys(db: Database) -> list[str]:
    """The dispatch keys that kernels of selected functions are registered for, sorted."""
    listed = (each for bucket in db.names(buckets) for each in registrations(db, bucket).items())
    return sorted({name.partition(" ")[0] for name, own in listed if own.selected}.intersection(db.names(kernel_keys)))


def _keys(db: Database, group: Group) -> list[tuple[str, bool]]:
    """The keys that something is registered for, each with whether a function has a kernel for it."""
    known, own = db.names(kernel_keys), {key for each in group.functions for key in each.dispatch}
    own.update(MADE if group.primary.structured else ())
    keys = [key for key in release(db).file_keys if key in own or key in MADE]
    found = [(key, key in own) for key in sorted(keys)]
    return [(key, declared) for key, declared in found if declared or (key in known and any(served(group, key)))]


def registered_kernels(db: Database, name: str) -> RegisteredKernels | None:
    """The functions of a group and the key, by the name of a registration; None if there are none, or no kernel of any
    function is for the key."""
    key, _, identity = name.partition(" ")
    found = registrations.item(db, bucket_of_function(identity), name)
    if found is None or key not in db.names(kernel_keys):
        return None
    functions = {each: own for each in found.functions if (own := function(db, each)) is not None}
    chosen = with_kernels(db, bucket_of_function(identity))
    omitted = (str(own.func.name) for each, own in functions.items() if chosen is not None and each not in chosen)
    ahead = compiled_ahead(db, key, next(iter(functions.values()))) if functions else None
    return RegisteredKernels(key, tuple(functions.values()), tuple(omitted), ahead)


def all_units(db: Database) -> list[Unit]:
    """All registrations, of each key in the order of the file."""
    listed = [each for bucket in db.names(buckets) for each in registrations(db, bucket).items()]
    return [_unit(*each) for each in in_order(db, listed, lambda each: each[1].before)]


def units_of_bucket(db: Database, bucket: str) -> list[Unit]:
    """The registrations of a bucket of functions."""
    return [_unit(*each) for each in registrations(db, bucket).items()]


def unit_named(db: Database, name: str) -> Unit | None:
    """A registration as a unit; None if there is none."""
    found = registrations.item(db, bucket_of_function(name.partition(" ")[2]), name)
    return None if found is None else _unit(name, found)


def units_of_function(db: Database, identity: str) -> list[str]:
    """The registrations that a function is part of."""
    return [name for name, own in registrations(db, bucket_of_function(identity)).items() if identity in own.functions]


def _unit(name: str, of: Registered) -> Unit:
    key, _, identity = name.partition(" ")
    return Unit(
        name,
        f"{key}::{of.op}",
        of.operator,
        of.op,
        "native",
        entry_of(identity),
        key,
        not of.declared,
        identity,
        tuple(of.functions),
    )
