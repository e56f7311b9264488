"""Operators: all functions of one base name with their groups, and the order of dispatch keys. Part of the stage
`schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.parse_native_yaml_struct`.
"""

from gradmill.grammar.buckets import bucket_of
from gradmill.model.entries import by_key
from gradmill.model.native import Operator, OperatorKernels
from gradmill.problems.problem import LAST, Problem
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.dispatch.groups import CUDA
from gradmill.rules.native.dispatch import EXPLICIT
from gradmill.stages.groups import Members, Variants, groups
from gradmill.stages.schemas import (
    all_functions,
    buckets,
    declared,
    generated,
    heads,
    repeated,
    report_between,
    share_kernels,
)
from gradmill.stages.set import release
from gradmill.stages.specs import entries

# What has rules of its own in files: those of torchgen.gen; kernels, declared or registered; headers of kernels.
BY_GEN, KERNELS, HEADERS = "gen", "kernels", "headers"
_ATEN = 4  # the rank of rules that only ATen's code depends on


class Grouped(Members, frozen=True, array_like=True):
    """The functions of an operator, in the order of the file."""

    groups: list[list[int]]  # its groups, as positions in `functions`


@table
def operators(db: Database, bucket: str) -> dict[str, Grouped]:
    """The operators of a bucket, by base name."""
    own = by_key((group.operator, group) for group in groups(db, bucket).values())
    return {name: _grouped(name, listed) for name, listed in own.items()}


def _grouped(name: str, own: list[Variants]) -> Grouped:
    place = {each: at for group in own for each, at in zip(group.functions, group.positions)}
    functions = sorted(place, key=place.__getitem__)
    indices = [[functions.index(each) for each in group.functions] for group in own]
    return Grouped(functions, operator=name, op=name, first=functions[0], before=functions[0], groups=indices)


def operator(db: Database, name: str) -> Operator | None:
    """The functions of an operator by base name; None if there is none, or one of its functions is invalid."""
    members = operators.item(db, bucket_of(name), name)
    functions = all_functions(db, members.functions) if members is not None else None
    return Operator(name, functions, tuple(map(tuple, members.groups))) if members and functions else None


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
    functions = all_functions(db, [name for name, _ in listed])
    if functions is not None:
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
