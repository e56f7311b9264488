"""What every stage may ask: the spec set, the release, the inputs by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from pipeline.model.layers import Source
from pipeline.problems.problem import Role
from pipeline.query.database import Database
from pipeline.query.query import query, unordered
from pipeline.releases import resolve
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.specs.layers.description import Described

SET = "set"  # the input that says what the spec set is
RELEASE = "release"  # the input that says which release it is read as
FAMILIES = "families"  # the input that says which output families are asked for; empty: all
DESCRIBED = "described"  # the input that describes a set of layers; there is none where the set is a plain one
GRAPHS = "graphs"  # the input that says which graph files there are; none where graphs= is not given
LINES = "lines"  # the input that says what files are called in `#line` directives; there is none where lines=0
UNREADABLE = "unreadable"  # the input that says why files could not be read


class Set(Struct, frozen=True):
    """A spec set as the stages know it: no path of a machine is in it."""

    name: str
    files: dict[str, str]  # role -> name of the file within the set; of a described set, by the keys of its sources
    templates: tuple[str, ...]
    comment: str  # the folder that generated files say their template is from
    headers: tuple[str, ...] = ()  # that declare what formulas call
    whole: bool = False  # whether all functions and helpers of the release are in the set's own files


@query
def spec_set(db: Database) -> Set:
    """The spec set."""
    return msgspec.msgpack.decode(db.input(SET) or b"", type=Set)


def is_described(db: Database) -> bool:
    """Whether the set is one of layers, with a description."""
    return db.input(DESCRIBED) is not None


def described(db: Database) -> Described | None:
    """What a set is described by, None where it is a plain one."""
    data = db.input(DESCRIBED)
    if data is None:
        return None
    from pipeline.specs.layers.description import Described

    return msgspec.msgpack.decode(data, type=Described)


class Asked(Struct, frozen=True):
    """What the command line says of graphs."""

    files: list[str]  # names within `graphs=`, sorted
    namespace: str  # of the operators that they become


@query
def asked(db: Database) -> Asked:
    """The graph files, and what their operators go by; none where `graphs=` is not given."""
    data = db.input(GRAPHS)
    return msgspec.msgpack.decode(data, type=Asked) if data else Asked([], "")


@query
def namespace(db: Database) -> str:
    """What the operators that graphs become go by."""
    return asked(db).namespace


@query
def sources(db: Database) -> list[Source]:
    """The files of entries, in their order."""
    found = described(db)
    if found is None:
        return [Source(key, file) for key, file in spec_set(db).files.items()]
    return list(found.sources)


@query
def source(db: Database, key: str) -> Source:
    """One file of entries; one that says nothing where there is none of this key any more."""
    return next((source for source in sources(db) if source.key == key), Source(key, ""))


@query
def source_keys(db: Database, role: Role) -> list[str]:
    """The files of entries of a role."""
    return [source.key for source in sources(db) if source.role == role]


@query
def families_described(db: Database) -> list[str]:
    """The output families that a description asks for, or has a say in; none of a plain set."""
    found = described(db)
    return [] if found is None else list(found.description.families or found.description.family)


@query
def own_templates(db: Database, family: str) -> dict[str, str]:
    """What templates of this set's own go by that a family has in place of the base's, by name."""
    found = described(db)
    return {} if found is None else found.templates.get(family, {})


@unordered
def release(db: Database) -> Release:
    """The facts of the release, and what the set adds to them."""
    version, found = (db.input(RELEASE) or b"").decode(), described(db)
    if found is None:
        return resolve(version)
    from pipeline.rules.layers.facts import changes_of

    return resolve(version, changes_of(found.description, version))


def asked_families(db: Database) -> list[str]:
    """The output families that are asked for by name; none where all are."""
    return [name for name in (db.input(FAMILIES) or b"").decode().split(",") if name]


class Paths(Struct, frozen=True):
    """What `#line` directives call files."""

    specs: dict[str, str]  # by key
    generated: str  # the folder


@query
def paths(db: Database) -> Paths | None:
    """What `#line` directives call files; None where there are to be none."""
    data = db.input(LINES)
    return msgspec.msgpack.decode(data, type=Paths) if data else None


@query
def unreadable(db: Database) -> dict[str, str]:
    """Inputs that could not be read, and why."""
    return msgspec.msgpack.decode(db.input(UNREADABLE) or b"\x80", type=dict[str, str])


def spec_label(key: str) -> str:
    """The name of a spec file among the inputs."""
    return f"spec/{key}"


def graph_label(name: str) -> str:
    """The name of a graph file among the inputs."""
    return f"graph/{name}"


def header_label(name: str) -> str:
    """The name of a header among the inputs."""
    return f"header/{name}"


def template_label(name: str) -> str:
    """The name of a template among the inputs."""
    return f"template/{name}"
