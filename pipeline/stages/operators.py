"""Operators: all functions of one base name with their groups, and the order of dispatch keys. Part of the stage
`schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.parse_native_yaml_struct`.
"""

from msgspec import Struct

from pipeline.grammar.buckets import bucket_of
from pipeline.model.native import Operator, OperatorKernels
from pipeline.model.units import Unit
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.native.dispatch import EXPLICIT
from pipeline.rules.native.groups import complete_groups
from pipeline.stages.schemas import buckets, declared, entry_of, function, generated, heads, in_order
from pipeline.stages.set import release
from pipeline.stages.specs import entries


class Members(Struct, frozen=True, array_like=True):
    """The functions of an operator, by identity, and their places by group."""

    functions: list[str]
    groups: list[list[int]]


@table
def operators(db: Database, bucket: str) -> dict[str, Members]:
    """The operators of a bucket, by base name."""
    listed = heads(db, bucket)
    found: dict[str, Members] = {}
    place = {}
    for i, (name, head) in enumerate(listed):
        members = found.setdefault(head.base, Members([], []))
        place[i] = len(members.functions)
        members.functions.append(name)
    for group in complete_groups([head for _, head in listed]):
        found[listed[group[0]][1].base].groups.append([place[i] for i in group])
    return found


def operator(db: Database, name: str) -> Operator | None:
    """The functions of an operator by base name; None if there is none, or one of its functions is invalid."""
    members = operators.item(db, bucket_of(name), name)
    if members is None:
        return None
    functions = tuple(own for each in members.functions if (own := function(db, each)) is not None)
    if len(functions) < len(members.functions):
        return None
    return Operator(name, functions, tuple(map(tuple, members.groups)))


def operator_kernels(db: Database, name: str) -> OperatorKernels | None:
    """An operator with the dispatch keys that have kernels, in upstream's order; None as in `operator`."""
    found = operator(db, name)
    return None if found is None else OperatorKernels(found, tuple(kernel_keys(db)))


@query
def first_kernels(db: Database, bucket: str) -> dict[str, str]:
    """The dispatch keys that the functions of a bucket have kernels for, each with the first entry that has one."""
    found: dict[str, str] = {}
    for entry, native in declared(db, bucket).items():
        for key in native.dispatch:
            found.setdefault(key, entry)
    return found


@query
def kernel_keys(db: Database) -> list[str]:
    """The dispatch keys that have kernels, as they first occur in the file; then the key of generated kernels."""
    place = {entry: i for i, entry in enumerate(db.names(entries, "native"))}
    named = [pair for bucket in db.names(buckets) for pair in first_kernels(db, bucket).items()]
    keys = [key for key, _ in sorted(named, key=lambda pair: place[pair[1]])]
    if any(db.names(generated, bucket) for bucket in db.names(buckets)):
        keys.append(EXPLICIT)
    absent = release(db).absent_keys
    return [key for key in dict.fromkeys(keys) if key not in absent]


def operator_units(db: Database) -> list[Unit]:
    """All operators, in the order of their first functions."""
    listed = [_unit(*each) for bucket in db.names(buckets) for each in operators(db, bucket).items()]
    return in_order(db, listed, lambda unit: unit.function)


def operator_unit(db: Database, name: str) -> Unit | None:
    """An operator as a unit; None if there is none."""
    members = operators.item(db, bucket_of(name), name)
    return None if members is None else _unit(name, members)


def _unit(name: str, members: Members) -> Unit:
    """An operator as a unit. Its entry is that of its first function."""
    first, *_ = members.functions
    entry, functions = entry_of(first), tuple(members.functions)
    return Unit(name, name, name, name, "native", entry, function=first, functions=functions)
