"""The generated code of one spec set, for comparison: what each file has of each unit, and the text around it.

The text of a unit is the same in every file and shard that has it, so it is read once for each of its files without
shards: `VariableType.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.families.file import ANY, File
from gradmill.model.entries import by_key
from gradmill.query.database import Database
from gradmill.reports.diff.model import SetSide
from gradmill.stages.arrangement import files, units_of
from gradmill.stages.emit import text
from gradmill.stages.operator_files import digests_of_each, written_files
from gradmill.stages.set import RELEASE, spec_set
from gradmill.stages.shard import SORTED, Blocks, file_digest, ordered, outline, placed
from gradmill.stages.units import schemas_of, units

At = tuple[str, int]  # the layout and its number of shards
Key = tuple[str, str, str]  # the family, the file without its shard, the unit


class CodeFile(Struct, frozen=True, gc=False):
    """A generated file. `around`: its text, with a placeholder for each place that units are printed at."""

    family: str
    name: str  # without its shard; with `{operator}` if each operator has such a file
    digest: bytes
    around: str
    units: tuple[str, ...]  # those with text in these places, in their order


class CodeUnit(Struct, frozen=True, gc=False):
    """What is said of a unit."""

    op: str
    title: str
    schema: str


class Code(Struct, frozen=True):
    """The generated code of one side of a comparison."""

    side: SetSide
    files: dict[str, CodeFile]
    texts: dict[Key, dict[str, str]]  # the text at each place in the file
    units: dict[tuple[str, str], CodeUnit]  # by family and name


def read_code(db: Database, at: At, version: str) -> Code:
    """The generated code of a spec set without errors. `version` is what the set declares, "" if it has none."""
    side = SetSide(spec_set(db).name, version, (db.input(RELEASE) or b"").decode())
    texts: dict[Key, dict[str, str]] = {}
    read: dict[str, CodeFile] = {}
    for file in files(db, *at).values():
        whole = _read(db, at, file, texts)
        read |= _of_each(db, at, file.name, whole) if file.is_of_each else {file.name: whole}
    return Code(side, read, texts, dict(_units(db, dict.fromkeys(family for family, _, _ in texts))))


def _units(db: Database, families: Iterable[str]) -> Iterator[tuple[tuple[str, str], CodeUnit]]:
    for family in families:
        listed = units(db, family)
        for unit, schema in zip(listed, schemas_of(db, ((family, each) for each in listed))):
            key = f" [{unit.dispatch_key}]" if unit.dispatch_key not in ("", DEFAULT_KEY) else ""
            yield (family, unit.name), CodeUnit(f"{unit.overload}{key}", unit.title, schema)


def _read(db: Database, at: At, file: File, texts: dict[Key, dict[str, str]]) -> CodeFile:
    """A file. Adds the texts of its units, unless they are known from another shard."""
    parts = outline(db, *at, file.name)
    places = tuple(part.key for part in parts if isinstance(part, Blocks) and part.form != SORTED)
    name = "".join(file.name.rsplit(file.shard, 1)) if file.shard else file.name
    keys = {unit: (file.family, name, unit) for unit in (units_of(db, *at, file.name) if places else ())}
    new = [unit for unit, key in keys.items() if not texts.get(key, {}).keys() >= {*places}]
    members = {unit: text(db, file.family, unit) for unit in new}
    for place in places:
        for unit, own in placed(db, file.family, members, place):
            texts.setdefault(keys[unit], {})[place] = own
    printed = tuple(unit for unit, key in keys.items() if not texts.get(key, {}).keys().isdisjoint(places))
    around = (part if isinstance(part, str) else _placeholder(db, at, file.name, part) for part in parts)
    return CodeFile(file.family, name, file_digest(db, *at, file.name).sha256, "".join(around), printed)


def _of_each(db: Database, at: At, name: str, whole: CodeFile) -> dict[str, CodeFile]:
    """The files of all operators, from what `_read` made of their entry."""
    before, _, after = name.partition(ANY)
    of = {unit.name: unit.shard_key for unit in units(db, whole.family)}
    by_operator = by_key((of[unit], unit) for unit in whole.units)
    return {
        each: replace(
            whole,
            digest=digests_of_each(db, *at, home.entry, home.bucket)[each].sha256,
            units=tuple(by_operator.get(each.removeprefix(before).removesuffix(after), ())),
        )
        for each, home in written_files(db, *at).items()
        if home.entry == name
    }


def _placeholder(db: Database, at: At, name: str, hole: Blocks) -> str:
    if hole.form == SORTED:
        return ordered(db, *at, name, hole.family, hole.key)
    return f"{hole.indent}${{{hole.piece}}}"
