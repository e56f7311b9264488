"""Lists over all functions, which families print as they are. Part of the stage `schemas`.

torchgen: `gen.gen_headers`.
"""

from collections.abc import Callable

from gradmill.families.family import Family
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.native_aot import keys
from gradmill.stages.operators import kernel_keys
from gradmill.stages.schema_registrations import libraries
from gradmill.stages.schemas import buckets, declared, heads, variants
from gradmill.stages.variants import kernel_namespaces, kernel_spaces


@query
def methods(db: Database) -> list[str]:
    """The functions that are methods of Tensor, sorted."""
    return sorted(name for bucket in db.names(buckets) for name, head in heads(db, bucket) if head.method)


@query
def symbols(db: Database) -> list[str]:
    """The names of functions, with and without the mark of in-place ones, sorted."""
    listed = [head for bucket in db.names(buckets) for _, head in heads(db, bucket)]
    return sorted({name for head in listed for name in (head.unqualified, head.base)})


@query
def attributes_of(db: Database, bucket: str) -> list[str]:
    """The names of all arguments of the functions of a bucket, sorted."""
    functions = [*declared(db, bucket).values(), *variants(db, bucket).values()]
    return sorted({argument.name for own in functions for argument in own.func.arguments})


@query
def attributes(db: Database) -> list[str]:
    """The names of all arguments, sorted."""
    return sorted({name for bucket in db.names(buckets) for name in attributes_of(db, bucket)})


LISTS: dict[str, Callable[[Database], list[str]]] = {
    "methods": methods,
    "symbols": symbols,
    "attributes": attributes,
    "kernel_keys": lambda db: db.names(kernel_keys),  # as they first occur in the file
    "kernel_namespaces": kernel_namespaces,
    "kernel_spaces": kernel_spaces,
    "namespaces": lambda db: list(db.names(libraries)),  # of functions other than PyTorch's, in their order
    "libraries": lambda db: [name for name in db.names(libraries) if libraries.item(db, name)],  # with registrations
    "compiled_ahead": keys,
}


def lists(db: Database, family: Family) -> dict[str, tuple[str, ...]]:
    """The lists that a family prints."""
    return {name: tuple(LISTS[name](db)) for name in family.lists}
