"""Functions that a family selects, in the family's order."""

from gradmill.families.family import Family
from gradmill.families.table import FAMILIES
from gradmill.model.native import FunctionNames
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.query import table
from gradmill.rules.native.heads import names_of
from gradmill.stages import selection
from gradmill.stages.kernels import kernels
from gradmill.stages.kinds.kind import Kind, found
from gradmill.stages.requested import families
from gradmill.stages.schemas import buckets, entry_of, function, heads
from gradmill.stages.set import release


@table
def selected(db: Database, bucket: str) -> dict[str, list[tuple[str, Unit]]]:
    """The units from the functions of a bucket, each with its C++ name, by requested family."""
    kinds = ((name, FAMILIES[name]) for name in families(db))
    return {name: _selected(db, kind, bucket) for name, kind in kinds if kind.unit in ("function", "kernel")}


def selected_of(db: Database, family: Family, bucket: str) -> list[tuple[str, Unit]]:
    """The same of one family, whether requested or not."""
    units = selected.item(db, bucket, family.name)
    return _selected(db, family, bucket) if units is None else units


def _selected(db: Database, family: Family, bucket: str) -> list[tuple[str, Unit]]:
    facts = release(db)
    names, chosen = None, None
    if family.unit == "kernel":
        names, chosen = set(db.names(kernels, bucket)), selection.selected(db, bucket)
    elif family.selective:
        chosen = selection.registered(db, bucket)
    return [
        (head.cpp_name, unit_of(family, name, head))
        for name, head in heads(db, bucket)
        if (names is None or name in names) and (chosen is None or name in chosen) and family.selects(head, facts)
    ]


def all_selected(db: Database, family: Family) -> list[tuple[str, Unit]]:
    """The units of a family, each with its C++ name, in the order of buckets."""
    return [each for bucket in db.names(buckets) for each in selected_of(db, family, bucket)]


def listed(db: Database, family: Family) -> list[Unit]:
    """All functions that the family selects."""
    units = [unit for _, unit in all_selected(db, family)]
    ordered: list[Unit] = found(family.order)(db, units)
    return ordered


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A function as a unit; None if there is none."""
    native = function(db, name)
    return None if native is None else unit_of(family, name, names_of(native))


def in_bucket(db: Database, family: Family, bucket: str) -> list[Unit]:
    """The units from the functions of a bucket, in the order of the file."""
    return [unit for _, unit in selected_of(db, family, bucket)]


def unit_of(family: Family, name: str, of: FunctionNames) -> Unit:
    """The unit of a function."""
    shard = getattr(of, family.shards_by)
    return Unit(
        name=name,
        title=family.titled(of),
        shard_key=shard,
        overload=of.name,
        role="native",
        entry=entry_of(name),
        function=name,
    )


KIND = Kind(listed, named, in_bucket)
