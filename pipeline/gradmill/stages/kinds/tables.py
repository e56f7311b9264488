"""Kinds of units that a table has, bucket by bucket."""

from collections.abc import Callable
from typing import TypeVar

from gradmill.families.family import Family
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.query import Table
from gradmill.stages.groups import Members
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.schemas import bucket_of_function, buckets, in_order

M = TypeVar("M", bound=Members)


def kind_of_table(
    table: Table[[str], M],
    bucket_of: Callable[[str], str],
    order: Callable[[list[Unit]], list[Unit]] = lambda units: units,
) -> Kind:
    """The kind of units that a table has by bucket. `bucket_of` returns the bucket of a name; `order` sorts units that
    are in the order of the file."""

    def listed(db: Database, family: Family) -> list[Unit]:
        members = [each for bucket in db.names(buckets) for each in table(db, bucket).items()]
        return order([own.unit(name) for name, own in in_order(db, members, lambda each: each[1].before)])

    def named(db: Database, family: Family, name: str) -> Unit | None:
        members = table.item(db, bucket_of(name), name)
        return None if members is None else members.unit(name)

    def in_bucket(db: Database, family: Family, bucket: str) -> list[Unit]:
        return [members.unit(name) for name, members in table(db, bucket).items()]

    def of_function(db: Database, family: Family, function: str) -> list[str]:
        return [name for name, own in table(db, bucket_of_function(function)).items() if function in own.functions]

    return Kind(listed, named, in_bucket, of_function)
