"""The units of every family, each with its entry. Depends on functions and the index of Nodes."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from gradmill.families.table import FAMILIES
from gradmill.model.keys import ENTRY_KEY
from gradmill.model.layers import entry_operator
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.added import file_of, signature
from gradmill.stages.kernels import definition_of
from gradmill.stages.kinds import kind_of
from gradmill.stages.layered.participation import all_participants
from gradmill.stages.requested import families
from gradmill.stages.schemas import schema_of as function_schema
from gradmill.stages.schemas import schema_texts
from gradmill.stages.set import defines, is_described, paths, release
from gradmill.stages.specs import fields, files_of, keys_of


@query
def units(db: Database, family: str) -> list[Unit]:
    """All units of a family, in the order in which they are printed."""
    listed = kind_of(FAMILIES[family]).listed(db, FAMILIES[family])
    if not FAMILIES[family].described or not release(db).described:
        return listed
    from gradmill.stages.layered.overridden_units import about_unit, rules_of

    of = rules_of(db, family).functions
    participants = {name for name, _ in all_participants(db)}
    kind = FAMILIES[family].unit
    selected = [
        unit
        for unit in listed
        if (kind in ("Node", "binding") or unit.function in participants) and about_unit(db, unit).matches(of)
    ]
    if not defines(db, "select"):
        return selected
    from gradmill.stages.layered.hooks import is_selected

    return [unit for unit in selected if not unit.function or is_selected(db, family, unit.function)]


class UnitTitles(Struct, frozen=True, array_like=True):
    """The number of units, and the titles that several of them share."""

    count: int
    shared: list[str]


@query
def unit_titles(db: Database) -> UnitTitles:
    """The number of all units, and the titles that several of them share."""
    numbers = Counter(chain.from_iterable([unit.title for unit in units(db, family)] for family in families(db)))
    return UnitTitles(numbers.total(), sorted(title for title, number in numbers.items() if number > 1))


def unit(db: Database, family: str, name: str) -> Unit | None:
    """A unit by its name; None if there is none."""
    return kind_of(FAMILIES[family]).named(db, FAMILIES[family], name)


def schema_of(db: Database, family: str, of: Unit) -> str:
    """The schema of a unit's function, in a file of an extension too."""
    file = file_of(family, of.name)
    return signature(db, file, of.entry) if file else function_schema(db, of.function)


def schemas_of(db: Database, members: Iterable[tuple[str, Unit]]) -> list[str]:
    """The schemas of many units, each with its family, in their order."""
    texts = schema_texts(db)
    return [texts.get(unit.function) or schema_of(db, family, unit) for family, unit in members]


def origin(db: Database, family: str, name: str) -> str:
    """A comment that names the entry of a unit: the beginning of the entry's line, without its number."""
    member = unit(db, family, name)
    if member is None or member.role not in ("native", "derivatives"):
        return ""
    key = ENTRY_KEY[member.role]
    file = files_of(db, member.role, [member.entry]).get(member.entry, "")
    return f"// {file}: - {key}: {' '.join(entry_operator(member.entry).split())}(…)\n"


def place_of_field(db: Database, family: str, name: str, field: str) -> tuple[str, int]:
    """The file and the line of a field of the definition that a unit prints, or of the definition."""
    member, names = unit(db, family, name), paths(db)
    assert member is not None and names is not None
    definition = definition_of(db, member.function) if member.role != "derivatives" else None
    entry = definition[1] if definition is not None else member.entry
    lines = fields.item(db, "derivatives", entry) or {}
    key = keys_of(db, "derivatives").get(entry, "") if is_described(db) else "derivatives"
    line = lines.get(f"dispatch.{member.dispatch_key}.{field}") or lines.get(field) or lines.get("", 1)
    return names.specs.get(key, key), line


def units_in(db: Database, family: str, bucket: str) -> list[Unit]:
    """The units of a family from the functions of a bucket, in the order of the file."""
    in_bucket = kind_of(FAMILIES[family]).in_bucket
    assert in_bucket is not None
    return in_bucket(db, FAMILIES[family], bucket)


def is_in_buckets(db: Database, family: str) -> bool:
    """Whether the units of a family are those that `units_in` has of all buckets: no description omits any."""
    kind = FAMILIES[family]
    return kind_of(kind).in_bucket is not None and not (kind.described and release(db).described)


def units_of(db: Database, family: str, function: str) -> list[str]:
    """The units of a family that may be made from a function, by name."""
    return kind_of(FAMILIES[family]).of_function(db, FAMILIES[family], function)
