"""The silences of warnings: on entries of the spec files, on lines of the description and of a backend's file. Part of
the stage `specs`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradmill.model.layers import role_of
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.specs.location import DESCRIPTION
from gradmill.specs.silences import MARK, Silence, on_entries, on_lines
from gradmill.specs.spec_set import ROLES
from gradmill.specs.text import decode_text
from gradmill.stages.set import described, source, source_keys, spec_label
from gradmill.stages.specs import current_text, entries, keys_of, texts_of

BACKEND: Role = "external_backend"


@query
def in_file(db: Database, key: str) -> list[Silence]:
    """The silences of a file, in its order; none of a file without entries."""
    labels = [spec_label(each) for each in (key, *source(db, key).diffs)]
    if not any(MARK in (db.input(label) or b"") for label in labels):
        return []
    whole, role = current_text(db, key), role_of(key)
    keys = keys_of(db, role)
    pieces = list(zip((name for name in db.names(entries, role) if keys[name] == key), texts_of(db, key)))
    # A file without entries is empty or no YAML, which is an error of its own.
    return list(on_entries(role, key, whole or "", pieces)) if pieces else []


@query
def without_entries(db: Database, role: Role, key: str) -> list[Silence]:
    """The silences in the set's description, or in the file of a backend's operators. Those in a base's description are
    about the base's own runs."""
    data = db.input(spec_label(key)) or b""
    return list(on_lines(role, key, decode_text(data))) if MARK in data else []


def is_silent(db: Database) -> bool:
    """Whether no warning is silenced, as in nearly every set."""
    layers = described(db)
    return not (layers is not None and layers.description.ignore) and not any(all_silences(db))


def all_silences(db: Database) -> Iterator[Silence]:
    """The silences of all spec files, of a backend's and of the description, file by file, in the order of their
    lines."""
    yield from (silence for role in ROLES for key in source_keys(db, role) for silence in in_file(db, key))
    yield from without_entries(db, BACKEND, BACKEND)
    yield from without_entries(db, "set", DESCRIPTION)
