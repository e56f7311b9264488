"""The schemas that are registered with the dispatcher: which are, and the numbers of their tags. Part of the stage
`schemas`.

Functions with the same tags share a variable, numbered as the functions occur in each namespace.

torchgen: `gen.get_native_function_schema_registrations`, `gen.RegisterSchema`.
"""

from gradmill.families.family import ATEN
from gradmill.model.native import SchemaRegistration, TagSet
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages.schemas import bucket_of_function, buckets, declared, function, in_order, variants
from gradmill.stages.selection import registers_nothing, with_schemas

Tagged = tuple[str, str, tuple[str, ...], bool]  # a function's identity, namespace, tags; whether it is registered


@query
def tagged(db: Database, bucket: str) -> list[Tagged]:
    """The functions of a bucket with their tags."""
    chosen = with_schemas(db, bucket)
    functions = (*declared(db, bucket).items(), *variants(db, bucket).items())
    return [(name, own.namespace, own.tags, chosen is None or name in chosen) for name, own in functions]


@table
def tag_sets(db: Database) -> dict[str, TagSet]:
    """The sets of tags of registered functions, by namespace and tags, numbered."""
    listed = [each for bucket in db.names(buckets) for each in tagged(db, bucket)]
    found: dict[str, TagSet] = {}
    counts: dict[str, int] = {}
    for name, namespace, tags, is_registered in in_order(db, listed, lambda each: each[0]):
        key = _key(namespace, tags)
        if tags and is_registered and key not in found:
            found[key] = TagSet(counts.setdefault(namespace, 0), name)
            counts[namespace] += 1
    return found


def _key(namespace: str, tags: tuple[str, ...]) -> str:
    return " ".join((namespace, *tags))


@table
def libraries(db: Database) -> dict[str, str]:
    """The namespaces of functions other than PyTorch's, in their order, each with its first registered function, ""
    if none is. Empty if nothing at all is registered."""
    if registers_nothing(db):
        return {}
    listed = [each for bucket in db.names(buckets) for each in tagged(db, bucket) if each[1] != ATEN]
    found: dict[str, str] = {}
    for name, namespace, _, is_registered in in_order(db, listed, lambda each: each[0]):
        found[namespace] = found.get(namespace) or (name if is_registered else "")
    return found


def registration(db: Database, name: str) -> SchemaRegistration | None:
    """A function with how its schema is registered; None if there is no such function."""
    own = function(db, name)
    if own is None:
        return None
    chosen = with_schemas(db, bucket_of_function(name))
    if chosen is not None and name not in chosen:
        return SchemaRegistration(function=own, selected=False, number=None, declares=False, begins=False)
    tags = tag_sets.item(db, _key(own.namespace, own.tags)) if own.tags else None
    begins = own.namespace != ATEN and libraries.item(db, own.namespace) == name
    return SchemaRegistration(
        function=own,
        selected=True,
        number=tags.number if tags is not None else None,
        declares=tags is not None and tags.first == name,
        begins=begins,
    )
