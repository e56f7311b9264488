"""Operators: all functions of one base name with their groups, and the order of dispatch keys. Part of the stage
`schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.parse_native_yaml_struct`.
"""

from msgspec import Struct

from gradmill.grammar.buckets import bucket_of
from gradmill.model.native import Operator, OperatorKernels
from gradmill.model.units import Unit
from gradmill.problems.problem import LAST, Problem
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.dispatch.groups import CUDA
from gradmill.rules.native.dispatch import EXPLICIT
from gradmill.rules.native.groups import complete_groups
from gradmill.stages.schemas import (
    bucket_of_function,
    buckets,
    declared,
    entry_of,
    function,
    generated,
    heads,
    in_order,
    repeated,
    report_between,
    share_kernels,
)
from gradmill.stages.set import release
from gradmill.stages.specs import entries

# What has rules of its own in files: those of torchgen.gen; kernels, declared or registered; headers of kernels.
BY_GEN, KERNELS, HEADERS = "gen", "kernels", "headers"
_ATEN = 4  # the rank of rules that only ATen's code depends on


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
    return None if found is None else OperatorKernels(found, tuple(db.names(kernel_keys)))


@query
def first_kernels(db: Database, bucket: str) -> dict[str, str]:
    """The dispatch keys that the functions of a bucket have kernels for, each with the first entry that has one."""
    found: dict[str, str] = {}
    for entry, native in declared(db, bucket).items():
        for key in native.dispatch:
            found.setdefault(key, entry)
    return found


@table
def kernel_keys(db: Database) -> dict[str, bool]:
    """The dispatch keys that have kernels, as they first occur in the file; then the key of generated kernels.

    A table, since all kernels depend on it, and few edits change it: it is verified before they become dirty.
    """
    place = {entry: i for i, entry in enumerate(db.names(entries, "native"))}
    named = [pair for bucket in db.names(buckets) for pair in first_kernels(db, bucket).items()]
    keys = [key for key, _ in sorted(named, key=lambda pair: place[pair[1]])]
    if any(db.names(generated, bucket) for bucket in db.names(buckets)):
        keys.append(EXPLICIT)
    absent = release(db).absent_keys
    return {key: True for key in keys if key not in absent}


@query
def checked(db: Database, bucket: str, printed: str) -> bool:
    """Reports errors of the functions of a bucket that only ATen's code depends on. `printed`: as of `stage`."""
    from gradmill.rules.dispatch.checks import check_aten
    from gradmill.rules.native.groups import GroupError

    listed = heads(db, bucket)
    functions = [own for name, _ in listed if (own := function(db, name)) is not None]
    if len(functions) == len(listed):
        plain = [head for _, head in listed]
        errors = check_aten(plain, functions, release(db), kernels=KERNELS in printed, headers=HEADERS in printed)
        report_between(db, errors, listed, _ATEN)
        place = {name: i for i, (name, _) in enumerate(listed)}
        for (other, first), (name, again) in repeated(listed):
            if KERNELS in printed and first.schema != again.schema and not share_kernels(db, other, name):
                problem = f"operator '{again.name}' is declared twice, with kernels for different keys"
                twice = GroupError(place[name], problem, "use another overload name")
                twice.other = place[other], ""
                report_between(db, [twice], listed, _ATEN)
    return True


@query
def stage(db: Database, printed: str) -> int:
    """Validates what only ATen's code depends on; returns the number of buckets. `printed`: words for what is requested
    of BY_GEN, KERNELS and HEADERS."""
    for key in dict.fromkeys(release(db).static_keys):
        if key not in db.names(kernel_keys):
            problem = f"no function has a kernel for {key}: operators cannot call them without the dispatcher"
            db.report(Problem("native", "", "", problem, "leave the key out, or include its backend", rank=LAST))
    lacking = set(release(db).cpu_library_kernels) if BY_GEN in printed else set()
    for bucket in db.names(buckets) if lacking else ():
        lacking.difference_update(cpu_library_kernels(db, bucket))
    if lacking:
        problem = f"no function has these kernels for CUDA, which PyTorch expects: {', '.join(sorted(lacking))}"
        db.report(Problem("native", "", "", problem, "torchgen refuses such a file", rank=LAST))  # others may cause it
    return len([db.digest(checked, bucket, printed) for bucket in db.names(buckets)])


@query
def cpu_library_kernels(db: Database, bucket: str) -> list[str]:
    """The kernels for CUDA of a bucket that are in the library for CPU, sorted."""
    known = release(db).cpu_library_kernels
    rows = (row for native in declared(db, bucket).values() for row in native.dispatch.items())
    return sorted({kernel.name for key, kernel in rows if key.endswith(CUDA)} & known)


def all_units(db: Database) -> list[Unit]:
    """All operators, in the order of their first functions."""
    listed = [unit for bucket in db.names(buckets) for unit in units_of_bucket(db, bucket)]
    return in_order(db, listed, lambda unit: unit.function)


def units_of_function(db: Database, identity: str) -> list[str]:
    """The operator of a function."""
    return [name for name, own in operators(db, bucket_of_function(identity)).items() if identity in own.functions]


def units_of_bucket(db: Database, bucket: str) -> list[Unit]:
    """The operators of a bucket, in the order of their first functions."""
    return [_unit(*each) for each in operators(db, bucket).items()]


def unit_named(db: Database, name: str) -> Unit | None:
    """An operator as a unit; None if there is none."""
    members = operators.item(db, bucket_of(name), name)
    return None if members is None else _unit(name, members)


def _unit(name: str, members: Members) -> Unit:
    """An operator as a unit. Its entry is that of its first function."""
    first, *_ = members.functions
    entry, functions = entry_of(first), tuple(members.functions)
    return Unit(name, name, name, name, "native", entry, function=first, functions=functions)
