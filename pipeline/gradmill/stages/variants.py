"""Groups of variants in the order of the file, which kernels they share, and the namespaces of these. Part of the stage
`schemas`.

torchgen: `gen.get_grouped_native_functions`, `gen.get_ns_grouped_kernels`, `gen.get_namespaced_declaration`.
"""

from collections.abc import Iterator

from msgspec import Struct

from gradmill.families.kernel_headers import NAMESPACE, keys_with_headers
from gradmill.model.native import DeclaredKernels, NativeFunction
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.dispatch.groups import Group, callable_for_key
from gradmill.stages.groups import Members, groups
from gradmill.stages.operators import kernel_keys
from gradmill.stages.schemas import all_functions, bucket_of_function, buckets, function, in_order
from gradmill.stages.selection import with_kernels
from gradmill.stages.set import release


class Space(Struct, frozen=True, array_like=True):
    """A namespace of kernels for a key, as the functions of a bucket use it."""

    before: str  # as in `Members`: the first use
    rank: int  # among the uses by one group
    declares: bool  # whether a use declares something, or defines wrappers
    registers: bool  # whether it does so for a selected function


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
def spaces_in(db: Database, bucket: str) -> dict[str, Space]:
    """The namespaces of the kernels of a bucket for each dispatch key that has headers or files, `CPU at::native`, and
    for all, ` at::native`."""
    chosen = with_kernels(db, bucket)
    found: dict[str, Space] = {}
    for members in groups(db, bucket).values():
        group = group_of(db, members)
        if group is None:
            continue
        for rank, (name, own) in enumerate(_uses(db, group)):
            known = found.setdefault(name, Space(members.before, rank, declares=False, registers=False))
            named = zip(members.functions, group.functions)
            registers = any(of in own and (chosen is None or each in chosen) for each, of in named)
            found[name] = Space(known.before, known.rank, known.declares or bool(own), known.registers or registers)
    return found


def _uses(db: Database, group: Group) -> Iterator[tuple[str, list[NativeFunction]]]:
    """The keys and namespaces that a group uses, each with the functions that declare something there. A key without a
    kernel counts for the usual namespace."""
    known, facts = db.names(kernel_keys), release(db)
    spaces = {key: NAMESPACE if (kernel := group.kernel(key)) is None else kernel.namespace for key in known}
    for key, namespace in spaces.items():
        yield f" {namespace}", [each for each in group.functions if key in each.dispatch]
    for key in dict.fromkeys((*keys_with_headers(facts), *sorted(facts.file_keys))):
        if key in spaces:
            yield f"{key} {spaces[key]}", list(callable_for_key(group, key))


def _spaces(db: Database) -> dict[str, Space]:
    """The namespaces of kernels by key, as in `spaces_in`, in the order of their first use."""
    listed = [each for bucket in db.names(buckets) for each in spaces_in(db, bucket).items()]
    found: dict[str, Space] = {}
    for name, own in in_order(db, sorted(listed, key=lambda each: each[1].rank), lambda each: each[1].before):
        known = found.get(name, own)
        flags = known.declares or own.declares, known.registers or own.registers
        found[name] = Space(known.before, known.rank, *flags)
    return found


@query
def kernel_namespaces(db: Database) -> list[str]:
    """The namespaces of kernels by key. ` -` follows one in which nothing is declared."""
    return [name if own.declares else f"{name} -" for name, own in _spaces(db).items()]


@query
def kernel_spaces(db: Database) -> list[str]:
    """The same without those in which nothing is defined. ` -` follows one in which nothing is registered. None since
    2.7, where each group has a text of its own."""
    spaces = {} if release(db).kernel_shards else _spaces(db)
    return [name if own.registers else f"{name} -" for name, own in spaces.items() if own.declares]
