"""Names that have type stubs, in the order of PyTorch's script."""

from gradmill.families.family import Family
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.hints import ROLE, hints
from gradmill.stages.kinds import python_names
from gradmill.stages.kinds.kind import Kind
from gradmill.stages.python_names import stage


def listed(db: Database, family: Family) -> list[Unit]:
    """The names that have stubs. Verifies the deprecated forms of calls."""
    db.digest(stage)
    return [_unit(db, family, name) for name in db.names(hints)]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A name as a unit; None if it has no stub."""
    return None if hints.item(db, name) is None else _unit(db, family, name)


def of_function(db: Database, family: Family, identity: str) -> list[str]:
    """The names under which stubs have a function."""
    return [each for each in python_names.of_function(db, family, identity) if hints.item(db, each) is not None]


def _unit(db: Database, family: Family, name: str) -> Unit:
    """A name as a unit: that of its binding, or without an entry if it is only written by hand."""
    plain = name.rpartition(".")[2]
    return python_names.named(db, family, name) or Unit(
        name=name, title=name, shard_key=plain, overload=plain, role=ROLE, entry=""
    )


KIND = Kind(listed, named, of_function=of_function)
