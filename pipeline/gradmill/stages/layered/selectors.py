"""Words of selections that name a tag, a layer, or a vendor's own key: `tag:core`, `layer:npu`, `key:exposed`.

Only words that the description has are computed, so other sets depend on nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gradmill.model.layers import LAYER_MARK, layer_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages.layered.marks import has_key, keys_of
from gradmill.stages.schemas import all_heads, entry_of, function
from gradmill.stages.set import described, source_keys
from gradmill.stages.specs import keys_of_file, value
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
    return {word: [*_matching(db, *word.split(":", 1))] for word in special_words(db)}


def _matching(db: Database, kind: str, wanted: str) -> Iterator[str]:
    for name, _ in all_heads(db):
        if kind == "tag":
            native = function(db, name)
            is_true = native is not None and wanted in native.tags
        elif kind == "layer":
            is_true = layer_of(entry_of(name)) == wanted
        else:
            is_true = has_key({**_fields(db, entry_of(name)), **(keys_of.item(db, name) or {})}, wanted)
        if is_true:
            yield name


def _fields(db: Database, entry: str) -> dict[str, object]:
    """The keys of a layer's entry."""
    fields = value(db, "native", entry) if LAYER_MARK in entry else None
    return fields if isinstance(fields, dict) else {}


def known_names(db: Database, kind: str) -> list[str]:
    """The names that a special word of a kind may have."""
    if kind == "tag":
        return tags(db)
    layers = described(db)
    if kind == "layer":
        return [] if layers is None else [layer.name for layer in layers.description.layers]
    keys = [key for key in source_keys(db, "native") if not key.endswith(":base")]
    own = {name for key in keys for name in keys_of_file(db, key)}
    return sorted(own.union(*(keys_of.item(db, name) or {} for name in db.names(keys_of))))
