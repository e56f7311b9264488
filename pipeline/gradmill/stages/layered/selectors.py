"""Words of selections that name a tag, a layer, or a vendor's own key: `tag:core`, `layer:npu`, `key:exposed`.

Only kinds of words that the description has are computed, so other sets depend on nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradmill.model.layers import LAYER_MARK, layer_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages.layered.marks import keys_of
from gradmill.stages.schemas import all_heads, entry_of, function
from gradmill.stages.set import described, source_keys
from gradmill.stages.specs import keys_of_file, value
from gradmill.stages.tags import tags

KINDS = ("tag", "layer", "key")
_FALSE = (None, False, "", "False", "false")  # values of keys that count as absent


@query
def kinds(db: Database) -> list[str]:
    """The kinds of special words that the description may have."""
    layers = described(db)
    text = "" if layers is None else str(layers.description)
    return [kind for kind in KINDS if f"{kind}:" in text]


@table
def special_words(db: Database) -> dict[str, tuple[str, ...]]:
    """The words of these kinds that are true of each function."""
    used = kinds(db)
    return {name: tuple(_words(db, name, used)) for name, _ in all_heads(db)} if used else {}


def _words(db: Database, name: str, used: list[str]) -> Iterator[str]:
    entry = entry_of(name)
    if "tag" in used and (native := function(db, name)) is not None:
        yield from (f"tag:{tag}" for tag in native.tags)
    if "layer" in used:
        yield f"layer:{layer_of(entry)}"
    if "key" in used:
        fields = value(db, "native", entry) if LAYER_MARK in entry else None
        keys = {**(fields if isinstance(fields, dict) else {}), **(keys_of.item(db, name) or {})}
        yield from (f"key:{key}" for key, own in keys.items() if own not in _FALSE)
        for key, own in keys.items():
            yield from (f"key:{key}={each}" for each in (own if isinstance(own, list) else [own]))


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
