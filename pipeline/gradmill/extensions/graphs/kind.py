"""Functions of graph files, by file and function."""

from gradmill.extensions.graphs.queries.graphs import all_names, stem
from gradmill.families.family import Family
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.kinds.kind import Kind


def listed(db: Database, family: Family) -> list[Unit]:
    """All functions of graph files."""
    return [_unit(file, name) for file, name in all_names(db)]


def named(db: Database, family: Family, name: str) -> Unit | None:
    """A function by its file and its name."""
    return _unit(*name.rsplit(":", 1))


def _unit(file: str, name: str) -> Unit:
    return Unit(
        name=f"{file}:{name}", title=name, shard_key=stem(file), overload=name, role="added", entry=name, function=""
    )


KIND = Kind(listed, named)
