"""The files of their own that extensions read, and the functions in them, which are units.

Inputs, problems and the manifest call a file by its extension's name and its own: `graphs/net.py`.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from gradmill.doors import load, readers
from gradmill.families.rows import FAMILY_ROWS
from gradmill.query.database import Database
from gradmill.query.query import query


class _Files(Struct, frozen=True):
    """What every extension's input has."""

    files: list[str]


@query
def added(db: Database, extension: str) -> list[str]:
    """The files that an extension reads."""
    data = db.input(extension)
    return [] if data is None else msgspec.msgpack.decode(data, type=_Files).files


def all_added(db: Database) -> Iterator[str]:
    """The files of all extensions."""
    return (added_label(name, file) for name in readers() for file in added(db, name))


def added_label(extension: str, file: str) -> str:
    """The name of an extension's file."""
    return f"{extension}/{file}"


def file_of(family: str, unit: str) -> str:
    """The file that a unit of a family is made from, by the unit's name; "" if that is no extension's."""
    source = FAMILY_ROWS[family].source
    return added_label(source, unit.rpartition(":")[0]) if source else ""


def is_added(label: str) -> bool:
    """Whether a name is that of an extension's file."""
    return label.partition("/")[0] in readers()


def lines(db: Database, file: str) -> dict[str, int]:
    """The line that each function of a file begins at."""
    module, name = _module(file)
    found: dict[str, int] = module.lines(db, name)
    return found


def signature(db: Database, file: str, entry: str) -> str:
    """The schema of a function of a file."""
    module, name = _module(file)
    schema: str = module.signature(db, name, entry)
    return schema


def _module(file: str) -> tuple[Any, str]:
    """The module with the queries about a file, and the file's own name. Much code, which few runs need."""
    extension, _, name = file.partition("/")
    return load(readers()[extension].module), name
