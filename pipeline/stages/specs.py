"""Stage `specs`: the text of the spec files to raw entries, by identity.

A file goes by a key: of a plain spec set by its role, of a set of layers by role and place.

An entry goes by its operator or name, wherever it stands; a second one of the same name has a number. The text is cut
into groups of entries, so that an edit parses its own group and no other.
"""

from itertools import accumulate

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from pipeline.model.entries import grouped, numbered
from pipeline.model.layers import role_of
from pipeline.problems.problem import Role, SpecError, TextError
from pipeline.query.database import Database
from pipeline.query.memo import digest, encode
from pipeline.query.query import query, table, unkept
from pipeline.rules.layers.versions import looks_like
from pipeline.specs.entries import Piece, cut, head, outdented, parse_pieces, parse_plain, parse_whole, unused_anchors
from pipeline.specs.spec_set import ROLES
from pipeline.stages.layered.files import KEYS, Chosen, Named, is_layered, name_of, of_file, text
from pipeline.stages.set import source, source_keys, spec_set

__all__ = ["KEYS", "text"]

_NONE = digest(encode(None))


@unkept
def cuts(db: Database, key: str) -> list[Piece]:
    """The entries of a file as text, with their lines; none where the text cannot be cut."""
    if is_layered(key):
        from pipeline.stages.layered.texts import layer_cuts

        return layer_cuts(db, key)
    whole = text(db, key)
    return (cut(whole) or []) if whole is not None else []


@table
def pieces(db: Database, key: str) -> dict[str, list[str]]:
    """The texts of entries in groups, each called after its first; nothing where the text cannot be cut."""
    found = cuts(db, key)
    texts = [outdented(piece.text) for piece in found] if is_layered(key) else [piece.text for piece in found]
    named = dict(zip(numbered(head(text).partition("(")[0] for text in texts), texts))
    return {group[0]: [named[name] for name in group] for group in grouped(named)}


@query
def parsed(db: Database, key: str, group: str) -> list[Named] | None:
    """The entries of a group, None where they cannot be parsed apart from the rest."""
    found = []
    role = role_of(key)
    for piece in pieces.item(db, key, group) or []:
        value = parse_plain(piece, role) or parsed_as_yaml(db, role, piece)
        if value is None:
            return None
        found.append((name_of(value, role), Raw(value)))
    return found


@query
def parsed_as_yaml(db: Database, role: Role, text: str) -> bytes | None:
    """The value of an entry that takes a YAML parser to read, None where it cannot be parsed on its own."""
    try:
        return parse_pieces([text], role)[0]
    except TextError:
        return None


@query
def parsed_whole(db: Database, key: str) -> list[Named]:
    """The entries of a file that is not cut. Anchors are reported that no alias refers to."""
    found = whole(db, key)
    for mistake in unused_anchors(text(db, key) or "") if found and not is_layered(key) else ():
        db.report(replace(of_file(key, mistake), warning=True))
    return [(name_of(value, role_of(key)), Raw(value)) for _, value in found]


@unkept
def whole(db: Database, key: str) -> list[tuple[Piece, bytes]]:
    """The entries of a file as text and as values, all parsed at once."""
    if is_layered(key):
        from pipeline.stages.layered.texts import layer_whole

        return layer_whole(db, key)
    whole = text(db, key)
    if whole is None:
        return []
    try:
        return parse_whole(whole, role_of(key))
    except SpecError as error:
        db.report(of_file(key, error))
        return []


@table
def entries(db: Database, role: Role) -> dict[str, Raw]:
    """All entries of a role by identity, in their order."""
    found = [named for key in source_keys(db, role) for named in entries_of(db, key)]
    return dict(zip(numbered(name for name, _ in found), (value for _, value in found)))


def entries_of(db: Database, key: str) -> list[Named]:
    """The entries of a file; of a layer's, those that it chooses."""
    if is_layered(key):
        return [(name, value) for group in groups(db, key) for _, name, value in chosen(db, key, group)]
    each = [parsed(db, key, group) for group in db.names(pieces, key)]
    if not each or None in each:
        return parsed_whole(db, key)
    return [named for group in each if group is not None for named in group]


WHOLE = ""  # stands for the one group of a file that is not cut


def groups(db: Database, key: str) -> list[str]:
    """The groups of a file of a layer."""
    found = db.names(pieces, key)
    return found if found and all(db.digest(parsed, key, group) != _NONE for group in found) else [WHOLE]


@query
def chosen(db: Database, key: str, group: str) -> list[Chosen]:
    """What a layer makes of the entries of a group: those that hold for the release, as it has them."""
    from pipeline.stages.layered.choosing import choose

    keys = keys_of_file(db, key) if source(db, key).layer else {}
    return choose(db, key, _of_group(db, key, group), keys)


def _of_group(db: Database, key: str, group: str) -> list[Named]:
    return (parsed_whole(db, key) if group == WHOLE else parsed(db, key, group)) or []


@query
def keys_of_group(db: Database, key: str, group: str) -> dict[str, bool]:
    """The keys of the entries of a group, and whether what each says looks like releases in all of them."""
    found: dict[str, bool] = {}
    for _, raw in _of_group(db, key, group):
        said = msgspec.msgpack.decode(raw)
        for name, value in said.items() if isinstance(said, dict) else ():
            if isinstance(name, str):
                found[name] = found.get(name, True) and looks_like(value)
    return dict(sorted(found.items()))


@query
def keys_of_file(db: Database, key: str) -> dict[str, bool]:
    """The same of a file of a layer."""
    found: dict[str, bool] = {}
    for group in groups(db, key):
        for name, releases in keys_of_group(db, key, group).items():
            found[name] = found.get(name, True) and releases
    return dict(sorted(found.items()))


@query
def lines(db: Database, role: Role) -> dict[str, int]:
    """The line that each entry starts at."""
    return dict(zip(db.names(entries, role), (piece.line for piece in texts(db, role))))


@table
def fields(db: Database, role: Role) -> dict[str, dict[str, int]]:
    """The line that the value of each field of an entry begins on; by "" that of the entry."""
    from pipeline.problems.locate import field_lines  # reads YAML

    found = zip(db.names(entries, role), texts(db, role))
    return {
        entry: {"": piece.line, **{field: piece.line + line for field, line in field_lines(piece.text).items()}}
        for entry, piece in found
    }


def texts(db: Database, role: Role) -> list[Piece]:
    """The text and the line of each entry, in the order of `entries`."""
    return [piece for key in source_keys(db, role) for piece in texts_of(db, key)]


def texts_of(db: Database, key: str) -> list[Piece]:
    """The text and the line of each entry of a file."""
    own = groups(db, key)
    found = [piece for piece, _ in whole(db, key)] if own == [WHOLE] else cuts(db, key)
    if not is_layered(key):
        return found
    starts = accumulate([0, *(len(pieces.item(db, key, group) or ()) for group in own)])
    return [found[start + place] for start, group in zip(starts, own) for place, _, _ in chosen(db, key, group)]


def keys_of(db: Database, role: Role) -> dict[str, str]:
    """The key of the file that each entry is in."""
    keys, names = source_keys(db, role), db.names(entries, role)
    return dict.fromkeys(names, keys[0]) if len(keys) == 1 else dict(zip(names, keys_of_each(db, role)))


@query
def keys_of_each(db: Database, role: Role) -> list[str]:
    """The same of several files, in the order of the entries."""
    return [key for key in source_keys(db, role) for _ in entries_of(db, key)]


def files_of(db: Database, role: Role) -> dict[str, str]:
    """The file that each entry is in, as others are told."""
    named, keys = spec_set(db).files, source_keys(db, role)
    if len(keys) == 1:
        return dict.fromkeys(db.names(entries, role), named[keys[0]])
    return {entry: named[key] for entry, key in keys_of(db, role).items()}


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
