"""Stage `specs`: the text of the spec files to raw entries, by identity.

A file is keyed by its role in a plain spec set, and by role and place in a set of layers.

An entry is keyed by its operator or name, not by its place; a second one of the same name has a number. The text is cut
into groups of entries, so that an edit parses its own group only.
"""

from collections.abc import Iterable
from itertools import accumulate, chain, islice

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gradmill.model.entries import grouped, numbered
from gradmill.model.layers import role_of
from gradmill.problems.problem import Role, SpecError, TextError
from gradmill.query.database import Database
from gradmill.query.memo import digest, encode
from gradmill.query.query import query, table, unkept
from gradmill.specs.entries import Piece, cut, head, outdented, parse_one, parse_whole, unused_anchors
from gradmill.specs.spec_set import ROLES
from gradmill.stages.generator import changed
from gradmill.stages.set import source, source_keys, spec_set
from gradmill.stages.spec_files import Chosen, Named, is_layered, name_of, of_file, text

GroupKey = tuple[str, str]  # the key of a file, and of a group of entries in it

_NONE = digest(encode(None))


def current_text(db: Database, key: str) -> str | None:
    """The text that the lines of a file's entries refer to, after its diffs; None if it cannot be read."""
    rules = source(db, key)
    if not (rules.diffs or rules.lists):
        return text(db, key)
    from gradmill.stages.layered.files import described_text  # only a description needs it

    return described_text(db, key)


@unkept
def cuts(db: Database, key: str) -> list[Piece]:
    """The entries of a file as text, with their lines; none if the text cannot be cut."""
    whole, lists = current_text(db, key), source(db, key).lists
    if whole is None:
        return []
    if not lists:
        return cut(whole) or []
    from gradmill.specs.layers.lists import cut_lists  # only a description needs it

    return cut_lists(whole, lists) or []


@unkept
def whole(db: Database, key: str) -> list[tuple[Piece, bytes]]:
    """The entries of a file as text and as values, all parsed at once; none if there is an error, which is reported."""
    whole, lists = current_text(db, key), source(db, key).lists
    if whole is None:
        return []
    if lists:
        from gradmill.stages.layered.files import listed_entries  # only a description needs it

        return listed_entries(db, key, lists)
    try:
        return parse_whole(whole, role_of(key))
    except SpecError as error:
        problem = of_file(key, error)
        if is_layered(key):
            from gradmill.stages.layered.files import naming_lists

            problem = naming_lists(problem, whole)
        db.report(problem)
        return []


@table
def pieces(db: Database, key: str) -> dict[str, list[str]]:
    """The texts of entries in groups, each keyed by its first entry; empty if the text cannot be cut."""
    texts = [outdented(piece.text) for piece in cuts(db, key)]
    named = dict(zip(numbered(head(text).partition("(")[0] for text in texts), texts))
    return {group[0]: [named[name] for name in group] for group in grouped(named)}


@query
def parsed(db: Database, key: str, group: str) -> list[Named] | None:
    """The entries of a group; None if they cannot be parsed separately."""
    named = []
    role = role_of(key)
    for piece in pieces.item(db, key, group) or []:
        try:
            value = parse_one(piece, role)
        except TextError:
            return None
        named.append((name_of(value, role), Raw(value)))
    return named


@query
def parsed_whole(db: Database, key: str) -> list[Named]:
    """The entries of a file that is not cut. Reports anchors without an alias."""
    values = whole(db, key)
    for error in unused_anchors(text(db, key) or "") if values and not is_layered(key) else ():
        db.report(replace(of_file(key, error), warning=True))
    return [(name_of(value, role_of(key)), Raw(value)) for _, value in values]


WHOLE = ""  # the one group of a file that is not cut


def groups(db: Database, key: str) -> list[str]:
    """The groups of a file."""
    names = db.names(pieces, key)
    return names if names and all(is_parsed(db, key, group) for group in names) else [WHOLE]


@query
def is_parsed(db: Database, key: str, group: str) -> bool:
    """Whether the entries of a group can be parsed separately."""
    return db.digest(parsed, key, group) != _NONE


def _of_group(db: Database, key: str, group: str) -> list[Named]:
    return (parsed_whole(db, key) if group == WHOLE else parsed(db, key, group)) or []


def _applying(db: Database, key: str, group: str) -> list[Named]:
    """The entries of a group; for a layer, those that apply to the release."""
    if is_layered(key):
        return [(name, value) for _, name, value in chosen(db, key, group)]
    return _of_group(db, key, group)


@query
def names_in(db: Database, key: str, group: str) -> list[str]:
    """The names of the entries of a group, which most edits leave as they are."""
    return [name for name, _ in _applying(db, key, group)]


@table
def members(db: Database, role: Role) -> dict[str, list[str]]:
    """The identities of the entries in each group."""
    all_groups = [(key, group) for key in source_keys(db, role) for group in groups(db, key)]
    names = [names_in(db, *group) for group in all_groups]
    identities = numbered(chain.from_iterable(names))
    return {_member_key(*group): list(islice(identities, len(own))) for group, own in zip(all_groups, names)}


def _member_key(key: str, group: str) -> str:
    return f"{key}\0{group}"


@table
def entries(db: Database, role: Role) -> dict[str, GroupKey]:
    """All entries of a role by identity, in their order, each with the key of its group."""
    groups: dict[str, GroupKey] = {}
    for member_key, own in members(db, role).items():
        key, _, group = member_key.partition("\0")
        groups |= dict.fromkeys(own, (key, group))
    return groups


@table
def values(db: Database, key: str, group: str) -> dict[str, Raw]:
    """The values of the entries of a group by identity."""
    identities = members.item(db, role_of(key), _member_key(key, group)) or ()
    return dict(zip(identities, (value for _, value in _applying(db, key, group))))


@query
def chosen(db: Database, key: str, group: str) -> list[Chosen]:
    """The entries of a group that apply to the release, with the layer's changes."""
    from gradmill.stages.layered.keys import choose

    keys = keys_of_file(db, key) if source(db, key).layer else {}
    return choose(db, key, _of_group(db, key, group), keys)


@query
def keys_of_group(db: Database, key: str, group: str) -> dict[str, bool]:
    """The keys of the entries of a group, each with whether its values look like releases in all entries."""
    from gradmill.rules.layers.entry import looks_like  # only a description needs it

    keys: dict[str, bool] = {}
    for _, raw in _of_group(db, key, group):
        entry = msgspec.msgpack.decode(raw)
        for name, value in entry.items() if isinstance(entry, dict) else ():
            if isinstance(name, str):
                keys[name] = keys.get(name, True) and looks_like(value)
    return dict(sorted(keys.items()))


@query
def keys_of_file(db: Database, key: str) -> dict[str, bool]:
    """The keys of the entries of a layer's file, each with whether its values look like releases in all entries."""
    keys: dict[str, bool] = {}
    for group in groups(db, key):
        for name, releases in keys_of_group(db, key, group).items():
            keys[name] = keys.get(name, True) and releases
    return dict(sorted(keys.items()))


@query
def lines(db: Database, role: Role) -> dict[str, int]:
    """The line that each entry starts at."""
    return dict(zip(db.names(entries, role), (piece.line for piece in texts(db, role))))


@table
def fields(db: Database, role: Role) -> dict[str, dict[str, int]]:
    """The first line of the value of each field of an entry; under "" the first line of the entry."""
    from gradmill.problems.locate import field_lines  # reads YAML

    named_pieces = zip(db.names(entries, role), texts(db, role))
    return {
        entry: {"": piece.line, **{field: piece.line + line for field, line in field_lines(piece.text).items()}}
        for entry, piece in named_pieces
    }


def texts(db: Database, role: Role) -> list[Piece]:
    """The text and the line of each entry, in the order of `entries`."""
    return [piece for key in source_keys(db, role) for piece in texts_of(db, key)]


def texts_of(db: Database, key: str) -> list[Piece]:
    """The text and the line of each entry of a file."""
    own = groups(db, key)
    all_pieces = [piece for piece, _ in whole(db, key)] if own == [WHOLE] else cuts(db, key)
    if not is_layered(key):
        return all_pieces
    starts = accumulate([0, *(len(pieces.item(db, key, group) or ()) for group in own)])
    return [all_pieces[start + place] for start, group in zip(starts, own) for place, _, _ in chosen(db, key, group)]


def raw_entries(db: Database, role: Role) -> list[Raw]:
    """The values of a role's entries in a set of layers, in the order of `entries`, before any change of a layer."""
    return [
        raw
        for key in source_keys(db, role)
        for group in groups(db, key)
        for own in [_of_group(db, key, group)]
        for raw in [own[place][1] for place, _, _ in chosen(db, key, group)]
    ]


def keys_of(db: Database, role: Role) -> dict[str, str]:
    """The key of the file that each entry is in."""
    keys = source_keys(db, role)
    if len(keys) == 1:
        return dict.fromkeys(db.names(entries, role), keys[0])
    return {entry: key for entry, (key, _) in entries(db, role).items()}


def files_of(db: Database, role: Role, names: Iterable[str]) -> dict[str, str]:
    """The display name of the file that each of some entries is in, independent of all others."""
    named, keys = spec_set(db).files, source_keys(db, role)
    if len(keys) == 1:
        return dict.fromkeys(names, named[keys[0]])
    found = ((name, entries.item(db, role, name)) for name in dict.fromkeys(names))
    return {name: named[entry[0]] for name, entry in found if entry is not None}


@query
def stage(db: Database) -> int:
    """Validates all entries and their lines, and a checkout's generator; returns the number of roles."""
    changed(db)
    return len([(db.digest(entries, role), db.digest(lines, role)) for role in ROLES])


def raw_value(db: Database, role: Role, entry: str) -> Raw | None:
    """The value of an entry as MessagePack; None if there is no such entry."""
    place = entries.item(db, role, entry)
    return None if place is None else values.item(db, *place, entry)


def value(db: Database, role: Role, entry: str) -> object:
    """The value of an entry, as plain dicts, lists and scalars; None if there is no such entry."""
    raw = raw_value(db, role, entry)
    return None if raw is None else msgspec.msgpack.decode(raw)


def title(value: object, key: str) -> str:
    """The operator's name in an entry; "" if it has none."""
    name = value.get(key) if isinstance(value, dict) else None
    return name.partition("(")[0] if isinstance(name, str) else ""
