"""Stage `specs`: the text of the spec files to raw entries, by identity.

An entry goes by its schema or name, wherever it stands; a second one of the same name has a number. The text is cut
into groups of entries, so that an edit parses its own group and no other.
"""

import msgspec
from msgspec import Raw

from pipeline.model.entries import grouped, numbered
from pipeline.problems.problem import Problem, Role, SpecError, TextMistake
from pipeline.query.database import Database
from pipeline.query.query import query, table, unkept
from pipeline.query.row import NAMES, digest, encode
from pipeline.specs.entries import Piece, cut, head, parse_pieces, parse_plain, parse_whole, read_text
from pipeline.specs.spec_set import ROLES
from pipeline.stages.set import spec_label, unreadable

KEYS: dict[Role, str] = {"native": "func", "tags": "tag", "derivatives": "name"}  # what names an entry

Named = tuple[str, Raw]  # an entry's name, its value

_NONE = digest(encode(None))


@unkept
def text(db: Database, role: Role) -> str | None:
    """The text of a spec file, None where there is none that can be read."""
    data = db.input(spec_label(role))
    if data is None:
        db.report(Problem(role, "", "", f"cannot be read: {unreadable(db).get(spec_label(role), 'it is missing')}"))
        return None
    try:
        return read_text(data)
    except SpecError as error:
        db.report(_of_file(role, error))
        return None


@unkept
def cuts(db: Database, role: Role) -> list[Piece]:
    """The entries of a file as text, with their lines; none where the text cannot be cut."""
    whole = text(db, role)
    return (cut(whole) or []) if whole is not None else []


@table
def pieces(db: Database, role: Role) -> dict[str, list[str]]:
    """The texts of entries in groups, each called after its first; nothing where the text cannot be cut."""
    found = cuts(db, role)
    named = dict(zip(numbered(head(piece.text) for piece in found), (piece.text for piece in found)))
    return {group[0]: [named[name] for name in group] for group in grouped(named)}


@query
def parsed(db: Database, role: Role, group: str) -> list[Named] | None:
    """The entries of a group, None where they cannot be parsed apart from the rest."""
    found = []
    for text in pieces.item(db, role, group) or []:
        value = parse_plain(text, role) or parsed_as_yaml(db, role, text)
        if value is None:
            return None
        found.append((_name(value, role), Raw(value)))
    return found


@query
def parsed_as_yaml(db: Database, role: Role, text: str) -> bytes | None:
    """The value of an entry that takes a YAML parser to read, None where it cannot be parsed on its own."""
    try:
        return parse_pieces([text], role)[0]
    except TextMistake:
        return None


@query
def parsed_whole(db: Database, role: Role) -> list[Named]:
    """The entries of a file that is not cut."""
    whole = text(db, role)
    if whole is None:
        return []
    try:
        return [(_name(value, role), Raw(value)) for _, value in parse_whole(whole, role)]
    except SpecError as error:
        db.report(_of_file(role, error))
        return []


@table
def entries(db: Database, role: Role) -> dict[str, Raw]:
    """All entries of a file by identity, in their order."""
    groups = [parsed(db, role, group) for group in db.names(pieces, role)]
    found = [named for group in groups if group is not None for named in group]
    if not groups or None in groups:
        found = parsed_whole(db, role)
    return dict(zip(numbered(name for name, _ in found), (value for _, value in found)))


@query
def lines(db: Database, role: Role) -> dict[str, int]:
    """The line that each entry starts at."""
    return dict(zip(db.names(entries, role), (piece.line for piece in texts(db, role))))


def texts(db: Database, role: Role) -> list[Piece]:
    """The text and the line of each entry, in the order of `entries`."""
    groups = db.names(pieces, role)
    if groups and all(db.digest(parsed, role, group) != _NONE for group in groups):
        return cuts(db, role)
    whole = text(db, role)
    try:
        return [] if whole is None else [piece for piece, _ in parse_whole(whole, role)]
    except SpecError:
        return []


@query
def stage(db: Database) -> int:
    """All that the files say."""
    return len([(db.digest(entries, role), db.digest(lines, role)) for role in ROLES])


def value(db: Database, role: Role, entry: str) -> object:
    """What an entry says, as plain dicts, lists and scalars; None where there is no such entry."""
    raw = entries.item(db, role, entry)
    return None if raw is None else msgspec.msgpack.decode(raw)


def title(value: object, key: str) -> str:
    """The operator that an entry says it is about."""
    name = value.get(key) if isinstance(value, dict) else None
    return name.partition("(")[0] if isinstance(name, str) else ""


def _name(value: bytes, role: Role) -> str:
    found = msgspec.msgpack.decode(value)
    name = found.get(KEYS[role]) if isinstance(found, dict) else None
    return name if isinstance(name, str) and NAMES not in name else "?"


def _of_file(role: Role, error: SpecError) -> Problem:
    line, column = (error.line, error.column) if isinstance(error, TextMistake) else (1, 1)
    return Problem(role, "", "", error.problem, error.hint, line=line, column=column)
