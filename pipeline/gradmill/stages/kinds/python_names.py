"""Names by which Python calls functions, as `torch.add` or `Tensor.add_`, in the order of their first functions."""

from itertools import chain

from gradmill.families.family import Family
from gradmill.grammar.buckets import bucket_of
from gradmill.grammar.names import parse_operator_name
from gradmill.model.entries import by_key
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.python_names import ROLE, Bound, bound, stage
from gradmill.stages.schemas import buckets, entry_of, function, in_order


def listed(db: Database, family: Family) -> list[Unit]:
    """All Python names. Verifies the deprecated forms of calls if the family prints them."""
    if ROLE in family.row.reads:
        db.digest(stage)
    units = [unit for bucket in db.names(buckets) for unit in in_bucket(db, family, bucket)]
    return in_order(db, units, lambda unit: unit.function)


def in_bucket(db: Database, family: Family, bucket: str) -> list[Unit]:
    """The Python names of the functions of a bucket."""
    named = ((name, each) for each, names in chain.from_iterable(bound(db, bucket).values()) for name in names)
    return [_unit(name, functions) for name, functions in by_key(named).items()]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A Python name as a unit; None if no function is bound to it."""
    functions = [each for each, names in _bound(db, name.rpartition(".")[2]) if name in names]
    return _unit(name, functions) if functions else None


def of_function(db: Database, family: Family, identity: str) -> list[str]:
    """The names under which Python calls a function; none without bindings."""
    native = function(db, identity)
    if native is None:
        return [identity]
    return [name for each, names in _bound(db, native.func.name.unqualified) if each == identity for name in names]


def _bound(db: Database, plain: str) -> Bound:
    return bound.item(db, bucket_of(plain), plain) or []


def _unit(name: str, functions: list[str]) -> Unit:
    """A Python name as a unit. Its entry is that of its first function."""
    plain = name.rpartition(".")[2]
    base, first = parse_operator_name(plain).base, functions[0]
    return Unit(
        name=name,
        title=name,
        shard_key=base,
        overload=plain,
        role="native",
        entry=entry_of(first),
        function=first,
        functions=tuple(functions),
    )


KIND = Kind(listed, named, in_bucket, of_function)
