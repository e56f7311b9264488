"""The queries that every stage may use: the spec set, the release, the inputs by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gradmill.model.aten import USUAL, AtenRequest
from gradmill.model.layers import HookFile, SpecSource, role_of
from gradmill.model.requested_files import EVERYWHERE, RequestedFiles
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query, unordered
from gradmill.releases import resolve
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import COMPOSITES

if TYPE_CHECKING:
    from gradmill.specs.layers.description import Described

SET = "set"  # the input with the spec set
CODE = "gradmill"  # the input with the digest of gradmill's own code
RELEASE = "release"  # the input with the release that the set is read as
FAMILIES = "families"  # the input with the requested output families; empty: those by default
DESCRIBED = "described"  # the input with the description of a set of layers; missing for a plain set
ATEN = "aten"  # the input with the options of a build of ATen; missing without any
REQUESTED_FILES = "requested files"  # with their folders; missing without a subset and tree=
LINES = "lines"  # the input with the paths for `#line` directives; missing if lines=0
INCLUDES = "includes"  # the input with how generated files include others; missing unless a family's files do
UNREADABLE = "unreadable"  # the input with the reasons why files could not be read


class Set(Struct, frozen=True):
    """A spec set as the stages see it, without paths of the machine."""

    name: str
    files: dict[str, str]  # role -> name of the file within the set; of a described set, by the keys of its sources
    templates: tuple[str, ...]
    comment: str  # the folder of templates that comments in generated files name
    headers: tuple[str, ...] = ()  # those that declare functions for formulas
    whole: bool = False  # whether the set's own files have all functions and helpers of the release


@query
def spec_set(db: Database) -> Set:
    """The spec set as the stages see it: the names of its files, templates and headers, without paths."""
    return msgspec.msgpack.decode(db.input(SET) or b"", type=Set)


def is_described(db: Database) -> bool:
    """Whether the set is one of layers, with a description."""
    return db.input(DESCRIBED) is not None


def described(db: Database) -> Described | None:
    """The description of a set of layers; None for a plain set."""
    data = db.input(DESCRIBED)
    if data is None:
        return None
    from gradmill.specs.layers.description import Described

    return msgspec.msgpack.decode(data, type=Described)


def place_of_key(db: Database, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path at which a key of the description is written."""
    from gradmill.specs.layers.releases import written_at

    layers = described(db)
    return written_at({} if layers is None else layers.moved, path)


@query
def sources(db: Database) -> list[SpecSource]:
    """The files of entries, in their order."""
    layers = described(db)
    if layers is None:
        return [SpecSource(key, file) for key, file in spec_set(db).files.items()]
    return list(layers.sources)


@query
def source(db: Database, key: str) -> SpecSource:
    """The file of entries with this key; an empty one if it was removed."""
    return next((source for source in sources(db) if source.key == key), SpecSource(key, ""))


@query
def source_keys(db: Database, role: Role) -> list[str]:
    """The keys of the files of entries of a role."""
    return [source.key for source in sources(db) if role_of(source.key) == role]


@query
def families_described(db: Database) -> list[str]:
    """The output families that a description requests, or else configures; none for a plain set."""
    layers = described(db)
    return [] if layers is None else list(layers.description.families or layers.description.family)


@query
def hooks(db: Database) -> HookFile:
    """The hooks of the description; an empty file if it has none."""
    layers = described(db)
    own = None if layers is None else layers.hooks
    return HookFile({}, {}) if own is None else own


def defines(db: Database, hook: str) -> bool:
    """Whether the description has a hook."""
    return hook in hooks(db).lines


@query
def own_templates(db: Database, family: str) -> dict[str, str]:
    """The labels of the set's own templates that replace the base's in a family, by name."""
    layers = described(db)
    return {} if layers is None else layers.templates.get(family, {})


def version(db: Database) -> str:
    """The release that the set is read as."""
    return (db.input(RELEASE) or b"").decode()


@unordered
def release(db: Database) -> Release:
    """The facts of the release, with the changes of the set's description."""
    at, layers = version(db), described(db)
    changes = []
    if layers is not None:
        from gradmill.rules.layers.facts import changes_of

        changes = changes_of(layers.description)
    facts, requested = resolve(at, changes), aten_request(db)
    return _requested(facts, requested) if requested != USUAL else facts


def aten_request(db: Database) -> AtenRequest:
    """The options of a build of ATen."""
    data = db.input(ATEN)
    return msgspec.msgpack.decode(data, type=AtenRequest) if data else USUAL


def _requested(facts: Release, requested: AtenRequest) -> Release:
    """The facts with those of a build of ATen."""
    optional, only = facts.optional_backends, requested.dispatch_keys
    return replace(
        facts,
        optional_backends={name: keys for name, keys in optional.items() if name not in requested.backends},
        shims_extend=facts.shims_extend or requested.extend_shims,
        header_keys=facts.header_keys.union(requested.static_dispatch),
        omitted_keys=facts.kernel_keys.difference(only, COMPOSITES) if only else facts.omitted_keys,
        static_keys=requested.static_dispatch,
    )


def asked_families(db: Database) -> list[str]:
    """The output families requested by name; none for those by default."""
    return [name for name in (db.input(FAMILIES) or b"").decode().split(",") if name]


@query
def requested_files(db: Database) -> RequestedFiles:
    """The requested files and their folders."""
    data = db.input(REQUESTED_FILES)
    return msgspec.msgpack.decode(data, type=RequestedFiles) if data else EVERYWHERE


class Includes(Struct, frozen=True):
    """How generated files include others."""

    folders: dict[str, str]  # the folder of each family whose files include one another
    operator_headers: bool | None = None  # whether ATen has a header for each operator; None: it has, and lazy kernels
    # do not include these


@query
def includes(db: Database) -> Includes:
    """How generated files include others."""
    data = db.input(INCLUDES)
    return msgspec.msgpack.decode(data, type=Includes) if data else Includes({})


class Paths(Struct, frozen=True):
    """The paths of files in `#line` directives."""

    specs: dict[str, str]  # by key
    generated: str  # the folder


@query
def paths(db: Database) -> Paths | None:
    """The paths of files in `#line` directives; None without directives."""
    data = db.input(LINES)
    return msgspec.msgpack.decode(data, type=Paths) if data else None


@query
def unreadable(db: Database) -> dict[str, str]:
    """The inputs that could not be read, each with the reason."""
    return msgspec.msgpack.decode(db.input(UNREADABLE) or b"\x80", type=dict[str, str])


def spec_label(key: str) -> str:
    """The name of a spec file among the inputs."""
    return f"spec/{key}"


def header_label(name: str) -> str:
    """The name of a header among the inputs."""
    return f"header/{name}"


def generator_label(path: str) -> str:
    """The name of a file of the checkout's generator among the inputs."""
    return f"generator/{path}"


def template_label(name: str) -> str:
    """The name of a template among the inputs."""
    return f"template/{name}"
