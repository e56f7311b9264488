"""Stage `manifest`: what was generated from what, for other build systems."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pipeline import __version__
from pipeline.code.code import code
from pipeline.model.manifest import Manifest, ManifestFile, ManifestInput, ManifestUnit
from pipeline.query.database import Database
from pipeline.query.memo import digest, digest_of
from pipeline.query.query import Parts, query, unkept
from pipeline.specs.spec_set import ROLES
from pipeline.stages import derivatives, emit, foreach, infos, match, schemas, shard, specs
from pipeline.stages.set import RELEASE, asked, graph_label, spec_label, spec_set, template_label
from pipeline.stages.shard import files, made
from pipeline.stages.specs import files_of, lines
from pipeline.stages.units import families, schemas_of, units

_encoder = msgspec.json.Encoder()
_HERE: Any = Raw(b"\0")  # stands for what is put there later: JSON has no such byte anywhere

STAGES = (specs, schemas, derivatives, infos, foreach, match, emit, shard)


@unkept
def manifest(db: Database, layout: str, shards: int) -> Parts:
    """The manifest as JSON, a file or a unit a line."""
    described = spec_set(db)
    found = Manifest(
        __version__,
        described.name,
        (db.input(RELEASE) or b"").decode(),
        layout,
        tuple(_inputs(db, layout, shards)),
        _HERE,
        _HERE,
    )
    head, between, end = msgspec.json.encode(found).split(_HERE)
    listed = (file_line(db, layout, shards, name) for name in db.names(files, layout, shards))
    units_told = filter(None, (unit_lines(db, family) for family in families(db)))
    return Parts([head, *_lines(listed), between, *_lines(units_told), end, b"\n"])


def _lines(items: Iterable[bytes]) -> Iterator[bytes]:
    """A list whose items are encoded already, on lines of their own, in parts."""
    yield b"["
    for number, item in enumerate(items):
        yield b",\n" if number else b"\n"
        yield item
    yield b"\n]"


def own_code(db: Database) -> bytes:
    """The digest of all code that output depends on."""
    return digest_of(*(code(db, stage.__name__) for stage in STAGES))


def _inputs(db: Database, layout: str, shards: int) -> Iterator[ManifestInput]:
    described = spec_set(db)
    for key, name in described.files.items():
        yield ManifestInput(name, digest(db.input(spec_label(key)) or b"").hex())
    used = used_templates(db, layout, shards)
    for name in (name for name in described.templates if name in used):
        yield ManifestInput(f"templates/{name}", digest(db.input(template_label(name)) or b"").hex())
    for name in asked(db).files:
        yield ManifestInput(f"graphs/{name}", digest(db.input(graph_label(name)) or b"").hex())
    yield ManifestInput("gradmill", own_code(db).hex())


@query
def used_templates(db: Database, layout: str, shards: int) -> list[str]:
    """The templates that files are made from."""
    return sorted({file.template for file in files(db, layout, shards).values()})


@query
def file_line(db: Database, layout: str, shards: int, name: str) -> bytes:
    """What the manifest says of a file."""
    file, found = files.item(db, layout, shards, name), made(db, layout, shards, name)
    assert file is not None
    template = (f"templates/{file.template}",) if file.template else ()
    sources = dict.fromkeys(f"graphs/{unit.rpartition(':')[0]}" for unit in file.units) if file.whole else ()
    inputs = (*spec_set(db).files.values(), *template, *sources, "gradmill")
    named = titles(db, file.family)
    within = tuple(named[unit] for unit in file.units)
    return msgspec.json.encode(ManifestFile(name, found.size, found.sha256.hex(), found.xxh3.hex(), inputs, within))


@query
def titles(db: Database, family: str) -> dict[str, str]:
    """What the units of a family are called."""
    return {unit.name: unit.title for unit in units(db, family)}


class Told(Struct, frozen=True, array_like=True):
    """What the manifest says of units, but for the line that each is from."""

    text: bytes  # with `_HERE` in place of the lines
    places: list[tuple[str, str]]  # the role of the file that each unit is from, or the name of a graph's; the entry


@query
def told(db: Database, family: str) -> Told:
    """What the manifest says of the units of a family, wherever their entries are."""
    listed, found, places = units(db, family), bytearray(), []
    roles = {unit.role for unit in listed}
    named: dict[str, dict[str, str]] = {role: files_of(db, role) for role in ROLES if role in roles}
    for unit, schema in zip(listed, schemas_of(db, listed)):
        source = f"graphs/{unit.name.rpartition(':')[0]}" if unit.role == "graph" else unit.role
        file = named[source].get(unit.entry, "") if source in named else source
        it = ManifestUnit(unit.title, family, schema, unit.dispatch_key, file, _HERE, unit.synthesized)
        _encoder.encode_into(it, found, -1)
        found += b",\n"
        places.append((source, unit.entry))
    del found[-2:]
    return Told(bytes(found), places)


@query
def unit_lines(db: Database, family: str) -> bytes:
    """What the manifest says of the units of a family."""
    given = told(db, family)
    known = {source: _lines_of(db, source) for source in dict.fromkeys(source for source, _ in given.places)}
    first, *rest = given.text.split(_HERE)
    found = [first]
    for (source, entry), text in zip(given.places, rest):
        found += (b"%d" % known[source].get(entry, 0), text)
    return b"".join(found)


def _lines_of(db: Database, source: str) -> dict[str, int]:
    """The lines of the entries of a role, or of the functions of a graph's file."""
    role = next((role for role in ROLES if role == source), None)
    if role is not None:
        return lines(db, role)
    from pipeline.stages import graphs  # much code, for those who have graphs

    return graphs.lines(db, source.removeprefix("graphs/"))


def depfiles(targets: Iterable[str], inputs: Iterable[str]) -> dict[str, Parts]:
    """For each target a rule without a recipe, as Ninja and make read it: it is out of date when an input is newer."""
    found = " \\\n  ".join(map(_escaped, inputs)).encode()  # once, as targets may be many
    return {target: Parts([f"{_escaped(target)}: ".encode(), found, b"\n"]) for target in targets}


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
