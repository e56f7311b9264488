"""What every stage may ask: the spec set, the release, the inputs by name."""

import msgspec
from msgspec import Struct

from pipeline.problems.problem import Role
from pipeline.query.database import Database
from pipeline.query.query import query, unordered
from pipeline.releases import resolve
from pipeline.releases.model import Release

SET = "set"  # the input that says what the spec set is
RELEASE = "release"  # the input that says which release it is read as
FAMILIES = "families"  # the input that says which output families are asked for; empty: all
GRAPHS = "graphs"  # the input that says which graph files there are; none where graphs= is not given
UNREADABLE = "unreadable"  # the input that says why files could not be read


class Set(Struct, frozen=True):
    """A spec set as the stages know it: no path of a machine is in it."""

    name: str
    files: dict[str, str]  # role -> name of the file within the set
    templates: tuple[str, ...]
    comment: str  # the folder that generated files say their template is from


@query
def spec_set(db: Database) -> Set:
    """The spec set."""
    return msgspec.msgpack.decode(db.input(SET) or b"", type=Set)


@unordered
def release(db: Database) -> Release:
    """The facts of the release."""
    return resolve((db.input(RELEASE) or b"").decode())


def asked_families(db: Database) -> list[str]:
    """The output families that are asked for by name; none where all are."""
    return [name for name in (db.input(FAMILIES) or b"").decode().split(",") if name]


@query
def unreadable(db: Database) -> dict[str, str]:
    """Inputs that could not be read, and why."""
    return msgspec.msgpack.decode(db.input(UNREADABLE) or b"\x80", type=dict[str, str])


def spec_label(role: Role) -> str:
    """The name of a spec file among the inputs."""
    return f"spec/{role}"


def graph_label(name: str) -> str:
    """The name of a graph file among the inputs."""
    return f"graph/{name}"


def template_label(name: str) -> str:
    """The name of a template among the inputs."""
    return f"template/{name}"
