"""Spec files one by one: the text of a file, what names its entries, its mistakes. Part of the stage `specs`."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from pipeline.model.layers import role_of
from pipeline.problems.problem import Problem, Role, SpecError, TextError
from pipeline.query.database import Database
from pipeline.query.query import unkept
from pipeline.specs.entries import read_text
from pipeline.stages.set import spec_label, unreadable

KEYS: dict[Role, str] = {"native": "func", "tags": "tag", "derivatives": "name"}  # what names an entry

Named = tuple[str, Raw]  # an entry's name, its value
Chosen = tuple[int, str, Raw]  # the place of an entry in its group, its name, its value


def is_layered(key: str) -> bool:
    """Whether a file is one of a set of layers."""
    return ":" in key


@unkept
def text(db: Database, key: str) -> str | None:
    """The text of a spec file, None where there is none that can be read."""
    data = db.input(spec_label(key))
    if data is None:
        why = SpecError(f"cannot be read: {unreadable(db).get(spec_label(key), 'it is missing')}")
        db.report(replace(of_file(key, why), line=0, column=0))
        return None
    try:
        return read_text(data)
    except SpecError as error:
        db.report(of_file(key, error))
        return None


def name_of(value: bytes, role: Role) -> str:
    """What names an entry: the operator with its overload, whatever its arguments; a tag."""
    found = msgspec.msgpack.decode(value)
    name = found.get(KEYS[role]) if isinstance(found, dict) else None
    return name.partition("(")[0].strip() or "?" if isinstance(name, str) and "\0" not in name else "?"


def of_file(key: str, error: SpecError) -> Problem:
    """A mistake of a file as a whole, or at a line of it. The role of a plain set's file says which it is."""
    line, column = (error.line, error.column) if isinstance(error, TextError) else (1, 1)
    role = role_of(key)
    file = key if is_layered(key) else ""
    return Problem(role, "", "", error.problem, error.hint, line=line, column=column, file=file, rule=error.rule)
