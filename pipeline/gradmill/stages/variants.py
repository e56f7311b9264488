"""Groups of variants in the order of the file, which kernels they share, and the namespaces of these. Part of the stage
`schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.get_ns_grouped_kernels`, `gen.get_namespaced_declaration`.
"""

from collections.abc import Iterator

from msgspec import Struct

from gradmill.families.kernel_headers.files import NAMESPACE, keys_with_headers
from gradmill.model.native import DeclaredKernels
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.dispatch.groups import Group, callable_for_key
from gradmill.stages.groups import Members, groups
from gradmill.stages.operators import kernel_keys
from gradmill.stages.schemas import all_functions, bucket_of_function, buckets, function, in_order
from gradmill.stages.set import release


class Use(Struct, frozen=True, array_like=True):
    """The first use of a namespace by kernels of a bucket."""

    before: str  # as in `Members`
    rank: int  # among the uses by one group
    declares: bool  # whether a use declares something


def group_of(db: Database, members: Members) -> Group | None:
    """The functions of a group; None if one of them is invalid."""
    functions = all_functions(db, members.functions)
    return None if functions is None else Group(functions)


def declared_kernels(db: Database, name: str) -> DeclaredKernels | None:
    """A group of variants, by its name, among the groups that may declare the same; None if one of them is invalid."""
    listed = related.item(db, name) or []
    found = [groups.item(db, bucket_of_function(each), each) for each in listed]
    valid = [group.functions for each in found if each is not None and (group := group_of(db, each)) is not None]
    if not listed or len(valid) < len(listed):
        return None
    return DeclaredKernels(tuple(db.names(kernel_keys)), tuple(valid), listed.index(name))


@query
def kernels_of(db: Database, bucket: str) -> dict[str, list[str]]:
    """The names of the kernels of each group of a bucket, sorted."""
    found = {}
    for name, members in groups(db, bucket).items():
        functions = [own for each in members.functions if (own := function(db, each)) is not None]
        found[name] = sorted({kernel.name for own in functions for kernel in own.dispatch.values()})
    return found


@table
def related(db: Database) -> dict[str, list[str]]:
    """The groups of the operator of each group, and those with a kernel of the same name, in the order of the file."""
    listed = [each for bucket in db.names(buckets) for each in groups(db, bucket).items()]
    place = {name: i for i, (name, _) in enumerate(in_order(db, listed, lambda each: each[1].before))}
    kernels = {name: own for bucket in db.names(buckets) for name, own in kernels_of(db, bucket).items()}
    keys = {name: [f"{members.operator} ", *kernels[name]] for name, members in listed}
    having: dict[str, list[str]] = {}
    for name in place:
        for key in keys[name]:
            having.setdefault(key, []).append(name)
    return {name: sorted({each for key in keys[name] for each in having[key]}, key=place.__getitem__) for name in place}


@query
def uses_in(db: Database, bucket: str) -> dict[str, Use]:
    """The namespaces of the kernels of a bucket for each dispatch key that has headers, `CPU at::native`, and for all,
    ` at::native`."""
    found: dict[str, Use] = {}
    for members in groups(db, bucket).values():
        group = group_of(db, members)
        for rank, (key, namespace, declares) in enumerate(_uses(db, group) if group is not None else ()):
            name = f"{key} {namespace}"
            use = found.setdefault(name, Use(members.before, rank, declares))
            if declares and not use.declares:
                found[name] = Use(use.before, use.rank, declares)
    return found


def _uses(db: Database, group: Group) -> Iterator[tuple[str, str, bool]]:
    """The namespaces that a group uses, with the key, and whether it declares something there. A key without a kernel
    counts for the usual namespace."""
    known = db.names(kernel_keys)
    spaces = {key: NAMESPACE if (kernel := group.kernel(key)) is None else kernel.namespace for key in known}
    for key, namespace in spaces.items():
        yield "", namespace, any(key in each.dispatch for each in group.functions)
    for key in keys_with_headers(release(db)):
        if key in spaces:
            yield key, spaces[key], any(callable_for_key(group, key))


@query
def kernel_namespaces(db: Database) -> list[str]:
    """The namespaces of kernels by key, as in `uses_in`, in the order of their first use. ` -` follows one in which
    nothing is declared."""
    uses = [each for bucket in db.names(buckets) for each in uses_in(db, bucket).items()]
    uses = in_order(db, sorted(uses, key=lambda each: each[1].rank), lambda each: each[1].before)
    declaring = {name for name, use in uses if use.declares}
    return [name if name in declaring else f"{name} -" for name in dict.fromkeys(name for name, _ in uses)]
