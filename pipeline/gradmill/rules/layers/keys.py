"""The keys of a layer's entries that a description omits or misspells, and those that no entry has."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from gradmill.model.keys import KEYS
from gradmill.model.layers import SpecSource, Versions, role_of
from gradmill.problems.names import closest
from gradmill.problems.problem import SpecError, nearest
from gradmill.specs.layers.reading import error_at


def settled(layer: SpecSource, entry_keys: Mapping[str, bool]) -> tuple[SpecSource, list[SpecError]]:
    """The description's rules for a file, and what is wrong with them: keys that are another generator's are dropped,
    version keys that it omits or misspells are added. `entry_keys`: the keys of the entries, each with whether its
    values look like releases; none of those of the base."""
    errors: list[SpecError] = []
    known = (*KEYS[role_of(layer.key)], *layer.drop, *layer.version_keys)
    others = tuple(name for name in entry_keys if name not in known)
    misspelt = {near: name for name in layer.version_keys if name not in entry_keys and (near := closest(name, others))}
    for near, name in misspelt.items():
        at = (*layer.at, "versions", "keys")
        errors.append(error_at(at, f"no entry has the key '{name}'", f"did you mean '{near}'?", name))
    foreign = [
        name
        for name in others
        if entry_keys[name] or (role_of(layer.key) == "native" and not closest(name, known))
        if name not in misspelt and not layer.keep
    ]
    releases = [name for name in foreign if entry_keys[name]]
    if foreign:
        shown = " and ".join(f"'{name}'" for name in foreign)
        dropped = [name for name in foreign if name not in releases]
        texts = [f"drop = {json.dumps([*layer.drop, *dropped])}"] if dropped else []
        texts += [f"versions = {{ keys = {json.dumps([*layer.version_keys, *releases])} }}"] if releases else []
        is_table = bool(layer.lists or layer.drop or layer.versions)
        name = "" if layer.at[-1].isdecimal() else f"{layer.at[-1]} = "
        whole = f'{name}{{ file = "{layer.file}", {", ".join(texts)} }}'
        hint = f"write {' and '.join(texts) if is_table else whole}"
        errors.append(error_at(layer.at, f"entries have the key {shown}, which PyTorch's do not have", hint))
    named = (*(name for name in layer.version_keys if name in entry_keys), *misspelt, *releases)
    versions = replace(layer.versions or Versions(()), keys=named) if releases or misspelt else layer.versions
    errors += _unused_keys(layer, entry_keys, misspelt.values())
    return replace(layer, drop=(*layer.drop, *foreign), versions=versions), errors


def _unused_keys(layer: SpecSource, entry_keys: Mapping[str, bool], misspelt: Collection[str]) -> Iterator[SpecError]:
    """The warnings about keys in a description that no entry of a file has, except those that are misspelt."""
    own = KEYS[role_of(layer.key)]
    others = tuple(name for name in (*entry_keys, *own) if name not in (*layer.drop, *layer.keep))
    named = {("drop",): layer.drop, ("keep",): layer.keep, ("versions", "keys"): layer.version_keys}
    for at, name in ((at, name) for at, names in named.items() for name in names if entry_keys):
        if name not in (*entry_keys, *misspelt) and not (at[0] == "keep" and name in own):
            hint = nearest(name, others) or f"entries have {', '.join(entry_keys)}"
            yield error_at((*layer.at, *at), f"no entry has the key '{name}'", hint, name, rule="unmatched-key")
