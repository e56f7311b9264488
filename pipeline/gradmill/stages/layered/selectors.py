"""Words of selections that name a tag, a layer, or a vendor's own key: `tag:core`, `layer:npu`, `key:exposed`.

Only words that the description has are computed, so other sets depend on nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gradmill.model.layers import LAYER_MARK, layer_of
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.native.heads import qualified, within
from gradmill.stages import infos
from gradmill.stages.layered.marks import functions_with_key, has_value
from gradmill.stages.layered.marks import keys as marked_keys
from gradmill.stages.schemas import all_heads, entry_of, function
from gradmill.stages.set import described, source_keys
from gradmill.stages.specs import entries, keys_of_file, raw_entries
from gradmill.stages.tags import tags

KINDS = ("tag", "layer", "key")
_SELECTING = ("of", "functions", "take")  # the keys of a description with selections


def is_special(word: str) -> bool:
    """Whether a word of a selection names a tag, a layer or a key."""
    kind, colon, name = word.partition(":")
    return bool(colon) and kind in KINDS and not name.startswith(":")


@query
def special_words(db: Database) -> list[str]:
    """The special words in the selections of the description."""
    layers = described(db)
    return [] if layers is None else sorted(set(_special_in(msgspec.to_builtins(layers.description))))


def _special_in(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _special_in(item, name)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _special_in(item, key if key == "take" else "")
    elif isinstance(value, str) and key in _SELECTING:
        yield from filter(is_special, value.split())


@table
def matching(db: Database) -> dict[str, list[str]]:
    """The functions that each special word of the description is true of."""
    return {word: sorted(set(_matching(db, *word.split(":", 1)))) for word in special_words(db)}


def _matching(db: Database, kind: str, wanted: str) -> Iterator[str]:
    if kind == "tag":
        yield from (name for name, _ in all_heads(db) if wanted in _tags_of(db, name))
    elif kind == "layer":
        yield from (name for name, _ in all_heads(db) if layer_of(entry_of(name)) == wanted)
    else:
        yield from _with_key(db, wanted)
        yield from functions_with_key(db, wanted)


def _tags_of(db: Database, name: str) -> tuple[str, ...]:
    native = function(db, name)
    return () if native is None else native.tags


def _with_key(db: Database, wanted: str) -> Iterator[str]:
    """The functions whose entry has a key, or whose definition has it: those that it is for, and all variants."""
    declared = set(entries_with(db, "native", wanted))
    definitions = set(entries_with(db, "derivatives", wanted))
    heads = dict(all_heads(db))
    defined = {qualified(heads[each.function]) for each in infos.all_defined(db) if each.definition in definitions}
    for name, head in heads.items():
        if entry_of(name) in declared or {qualified(head), within(head.namespace, head.base)} & defined:
            yield name


@query
def entries_with(db: Database, role: Role, wanted: str) -> list[str]:
    """The entries of layers with a key (`exposed`), or with a key and a value (`kind=fast`)."""
    key, equals, value = wanted.partition("=")
    found = []
    for entry, raw in zip(db.names(entries, role), raw_entries(db, role)):
        fields = msgspec.msgpack.decode(raw) if LAYER_MARK in entry else None
        if isinstance(fields, dict) and key in fields and has_value(fields[key], value if equals else None):
            found.append(entry)
    return found


def known_names(db: Database, kind: str) -> list[str]:
    """The names that a special word of a kind may have."""
    if kind == "tag":
        return tags(db)
    layers = described(db)
    if kind == "layer":
        return [] if layers is None else [layer.name for layer in layers.description.layers]
    roles: tuple[Role, ...] = ("native", "derivatives")
    keys = [key for role in roles for key in source_keys(db, role) if not key.endswith(":base")]
    return sorted({name for key in keys for name in keys_of_file(db, key)} | marked_keys(db))
