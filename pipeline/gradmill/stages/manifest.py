"""Stage `manifest`: each generated file and its inputs, and each unit with its entry, for other build systems."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gradmill import __version__
from gradmill.families.file import ANY, File, FileDigest
from gradmill.families.table import FAMILIES
from gradmill.model.entries import by_key
from gradmill.model.manifest import Manifest, ManifestFile, ManifestInput, ManifestUnit, Units
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.memo import digest
from gradmill.query.query import Parts, query, table, unkept
from gradmill.specs.spec_set import ROLES
from gradmill.stages.added import all_added, file_of, is_added, signature
from gradmill.stages.added import lines as lines_in_file
from gradmill.stages.arrangement import arranged, files
from gradmill.stages.operator_files import digests_of_each, entries_of_each
from gradmill.stages.requested import families
from gradmill.stages.schemas import buckets, schema_texts, texts
from gradmill.stages.set import CODE, spec_label, spec_set, template_label, version
from gradmill.stages.shard import file_digest
from gradmill.stages.specs import files_of, lines
from gradmill.stages.units import is_in_buckets, units, units_in

_encoder = msgspec.json.Encoder()
# Placeholders that are replaced later: JSON has no such bytes.
_HERE: Any = Raw(b"\0")
_NUMBER: Any = Raw(b"\1")


@unkept
def manifest(db: Database, layout: str, shards: int) -> Parts:
    """The manifest as JSON, with one line per file."""
    described, at = spec_set(db), (layout, shards)
    listed, within = files(db, *at), titles(db, *at)
    header = Manifest(
        gradmill=__version__,
        specs=described.name,
        release=version(db),
        layout=layout,
        inputs=tuple(_inputs(db, (file.template for file in listed.values()))),
        files=_HERE,
    )
    head, end = msgspec.json.encode(header).split(_HERE)
    lines = (
        _line(name, file_digest(db, *at, name), _inputs_of(db, listed[name]), Raw(of)) for name, of in within.items()
    )
    of_operators = db.names(buckets) if entries_of_each(db, *at) else ()
    of_each = filter(None, (lines_of_each(db, *at, bucket) for bucket in of_operators))
    return Parts([head, *_lines(chain(lines, of_each)), end, b"\n"])


@unkept
def unit_list(db: Database) -> Parts:
    """The units as JSON, with one line per unit."""
    head, end = msgspec.json.encode(Units(spec_set(db).name, _HERE)).split(_HERE)
    return Parts([head, *_lines(filter(None, (_placed(db, part) for part in unit_parts(db)))), end, b"\n"])


@query
def unit_parts(db: Database) -> list[str]:
    """The parts of the list of units: families without units in buckets, and the buckets."""
    listed = families(db)
    whole = [family for family in listed if not is_in_buckets(db, family)]
    return [*whole, *(db.names(buckets) if whole != listed else ())]


@query
def units_digest(db: Database) -> bytes:
    """The digest of the bytes of the list of units."""
    return unit_list(db).digest


def _lines(items: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """A list of encoded items in parts, one item per line."""
    yield b"["
    for number, item in enumerate(items):
        yield b",\n" if number else b"\n"
        yield item
    yield b"\n]"


def _inputs(db: Database, templates: Iterable[str]) -> Iterator[ManifestInput]:
    described, used = spec_set(db), set(templates)
    for key, name in described.files.items():
        yield ManifestInput(name, digest(db.input(spec_label(key)) or b"").hex())
    for name in (name for name in described.templates if name in used):
        yield ManifestInput(f"templates/{name}", digest(db.input(template_label(name)) or b"").hex())
    for name in all_added(db):
        yield ManifestInput(name, digest(db.input(name) or b"").hex())
    yield ManifestInput("gradmill", (db.input(CODE) or b"").hex())


@table
def titles(db: Database, layout: str, shards: int) -> dict[str, memoryview]:
    """The titles of the units of each file, without those that each operator has, as JSON.

    A table, since those are made at once: the units of all families are in memory then.
    """
    of = {family: {unit.name: unit.title for unit in units(db, family)} for family in families(db)}
    listed = {name: file for name, file in arranged(db, layout, shards).items() if not file.is_of_each}
    lists = {(file.family, file.units): memoryview(b"") for file in listed.values()}  # few: files share units
    for family, names in lists:
        lists[family, names] = memoryview(_encoder.encode(list(map(of[family].__getitem__, names))))
    return {name: lists[file.family, file.units] for name, file in listed.items()}


def _line(path: str, text: FileDigest, inputs: tuple[str, ...], titles: Any) -> bytes:
    """The manifest's entry for a file, as JSON."""
    digests = text.sha256.hex(), text.xxh3.hex()
    return _encoder.encode(ManifestFile(path, text.size, *digests, inputs, titles))


@query
def lines_of_each(db: Database, layout: str, shards: int, bucket: str) -> bytes:
    """The manifest's entries for the files that each operator of a bucket has, as JSON."""
    lines = []
    for name in entries_of_each(db, layout, shards):
        file = files.item(db, layout, shards, name)
        assert file is not None
        inputs = _inputs_of(db, file)
        titled = by_key((name.replace(ANY, unit.shard_key), unit.title) for unit in units_in(db, file.family, bucket))
        digests = digests_of_each(db, layout, shards, name, bucket)
        lines += [_line(each, text, inputs, titled[each]) for each, text in digests.items()]
    return b",\n".join(lines)


def _inputs_of(db: Database, file: File) -> tuple[str, ...]:
    """The inputs of a file."""
    template = (f"templates/{file.template}",) if file.template else ()
    sources = dict.fromkeys(file_of(file.family, unit) for unit in file.units) if file.whole else ()
    return (*spec_set(db).files.values(), *template, *sources, "gradmill")


class UnitFacts(Struct, frozen=True, array_like=True):
    """The facts about units, without the lines of their entries."""

    text: memoryview  # a format for the line of each unit
    # The entries of the units, in runs: each after the role of their file, or the file, if an extension reads that.
    entries: list[tuple[str, list[str]]]


@query
def unit_facts(db: Database, part: str) -> UnitFacts:
    """The facts about the units of a family, or of a bucket of the families that have units in buckets. Independent of
    the lines of entries."""
    named = _units_of(db, part)
    listed = [unit for _, unit in named]
    entries = by_key((unit.role, unit.entry) for unit in listed)
    schemas = schema_texts(db) if part in FAMILIES else texts(db, part)
    known: dict[str, dict[str, str]] = {role: files_of(db, role, entries[role]) for role in ROLES if role in entries}
    sources = [file_of(family, unit.name) or unit.role for family, unit in named]
    named_files = [
        known[source].get(unit.entry, "") if source in known else source for unit, source in zip(listed, sources)
    ]
    lines = _encoder.encode_lines(
        [
            ManifestUnit(
                unit=unit.title,
                family=family,
                schema=schemas.get(unit.function) or (signature(db, source, unit.entry) if is_added(source) else ""),
                dispatch_key=unit.dispatch_key,
                file=file,
                line=_NUMBER,
                synthesized=unit.synthesized,
            )
            for (family, unit), source, file in zip(named, sources, named_files)
        ]
    )
    text = lines[:-1].replace(b"\n", b",\n").replace(b"%", b"%%").replace(_NUMBER, b"%d")
    runs = groupby(zip(sources, listed), key=itemgetter(0))
    return UnitFacts(memoryview(text), [(source, [unit.entry for _, unit in run]) for source, run in runs])


def _units_of(db: Database, part: str) -> list[tuple[str, Unit]]:
    """The units of `unit_facts`, each with its family."""
    if part in FAMILIES:
        return [(part, unit) for unit in units(db, part)]
    return [(name, unit) for name in families(db) if is_in_buckets(db, name) for unit in units_in(db, name, part)]


def _placed(db: Database, part: str) -> bytes:
    """The entries for the units of a part, as JSON."""
    facts = unit_facts(db, part)
    numbers = (map(_lines_of(db, source).get, entries, repeat(0)) for source, entries in facts.entries)
    return bytes(facts.text) % tuple(chain.from_iterable(numbers))


def _lines_of(db: Database, source: str) -> dict[str, int]:
    """The lines of the entries of a role, or of the functions in a file of an extension; none for other files."""
    role = next((role for role in ROLES if role == source), None)
    if role is not None:
        return lines(db, role)
    return lines_in_file(db, source) if is_added(source) else {}


def depfile(targets: Iterable[str], sources: bytes) -> Parts:
    """A depfile: a make rule without a recipe, which makes the targets out of date if a source is newer. `sources`:
    from `escaped`."""
    return Parts([" ".join(map(_escaped, targets)).encode(), b": ", sources, b"\n"])


def escaped(inputs: Iterable[str]) -> bytes:
    """The sources of a depfile, each once."""
    return " \\\n  ".join(map(_escaped, dict.fromkeys(inputs))).encode()


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
