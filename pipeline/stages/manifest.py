"""Stage `manifest`: what was generated from what, for other build systems."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from pipeline import __version__
from pipeline.model.manifest import Manifest, ManifestFile, ManifestInput, ManifestUnit
from pipeline.problems.problem import Role
from pipeline.query.code import code
from pipeline.query.database import Database
from pipeline.query.query import unkept
from pipeline.query.row import digest, digest_of
from pipeline.specs.spec_set import ROLES
from pipeline.stages import derivatives, emit, foreach, infos, match, schemas, shard, specs
from pipeline.stages.set import RELEASE, spec_label, spec_set, template_label
from pipeline.stages.shard import files, made
from pipeline.stages.specs import lines
from pipeline.stages.units import families, units

STAGES = (specs, schemas, derivatives, infos, foreach, match, emit, shard)


@unkept
def manifest(db: Database, layout: str, shards: int) -> bytes:
    """The manifest as JSON."""
    described = spec_set(db)
    titles = {family: {unit.name: unit.title for unit in units(db, family)} for family in families(db)}
    found = Manifest(
        __version__,
        described.name,
        (db.input(RELEASE) or b"").decode(),
        layout,
        tuple(_inputs(db, layout, shards)),
        tuple(_file(db, layout, shards, name, titles) for name in db.names(files, layout, shards)),
        tuple(_units(db)),
    )
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


def own_code(db: Database) -> bytes:
    """The digest of all code that output depends on."""
    return digest_of(*(code(db, stage.__name__) for stage in STAGES))


def _inputs(db: Database, layout: str, shards: int) -> Iterator[ManifestInput]:
    described = spec_set(db)
    for role in ROLES:
        yield ManifestInput(described.files[role], digest(db.input(spec_label(role)) or b"").hex())
    used = {file.template for file in files(db, layout, shards).values()}
    for name in (name for name in described.templates if name in used):
        yield ManifestInput(f"templates/{name}", digest(db.input(template_label(name)) or b"").hex())
    yield ManifestInput("gradmill", own_code(db).hex())


def _file(db: Database, layout: str, shards: int, name: str, titles: Mapping[str, Mapping[str, str]]) -> ManifestFile:
    """One file; `titles` are those of the units, by family."""
    file, found = files.item(db, layout, shards, name), made(db, layout, shards, name)
    assert file is not None
    template = (f"templates/{file.template}",) if file.template else ()
    inputs = (*(spec_set(db).files[role] for role in ROLES), *template, "gradmill")
    called = tuple(map(titles[file.family].__getitem__, file.units))
    return ManifestFile(name, found.size, found.sha256.hex(), found.xxh3.hex(), inputs, called)


def _units(db: Database) -> Iterator[ManifestUnit]:
    places: dict[Role, dict[str, int]] = {role: lines(db, role) for role in ("native", "derivatives")}
    named = spec_set(db).files
    for family in families(db):
        for unit in units(db, family):
            line = places[unit.role].get(unit.entry, 0)
            yield ManifestUnit(
                unit.title, family, unit.schema, unit.dispatch_key, named[unit.role], line, unit.synthesized
            )


def depfile(target: str, inputs: Iterable[str]) -> bytes:
    """A rule without a recipe, as Ninja and make read it: `target` is out of date when an input is newer."""
    found = " \\\n  ".join(_escaped(path) for path in inputs)
    return f"{_escaped(target)}: {found}\n".encode()


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
