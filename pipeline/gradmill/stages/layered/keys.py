"""The keys of a layer's entries, and the lists of its file, compared with those that the description names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from gradmill.model.keys import KEYS
from gradmill.model.layers import SpecSource, Versions
from gradmill.problems.names import closest
from gradmill.problems.problem import Problem, SpecError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.specs.layers.lists import check_lists, keys_of
from gradmill.specs.layers.reading import Diagnostic, Path
from gradmill.stages.layered.files import text
from gradmill.stages.set import place_of_key, source


def rules(db: Database, key: str, entry_keys: Mapping[str, bool]) -> SpecSource:
    """The description's rules for a file. Keys that are another generator's are reported and dropped, version keys that
    it omits or misspells are reported and added. `entry_keys`: the keys of the entries, each with whether its values
    look like releases."""
    layer = source(db, key)
    if not layer.layer:
        return layer
    known = (*KEYS[layer.role], *layer.drop, *layer.version_keys)
    others = tuple(name for name in entry_keys if name not in known)
    misspelt = {near: name for name in layer.version_keys if name not in entry_keys and (near := closest(name, others))}
    for near, name in misspelt.items():
        at = (*layer.at, "versions", "keys")
        report(db, at, f"no entry has the key '{name}'", f"did you mean '{near}'?", name)
    foreign = [
        name
        for name in others
        if entry_keys[name] or (layer.role == "native" and not closest(name, known))
        if name not in misspelt and not layer.keep
    ]
    releases = [name for name in foreign if entry_keys[name]]
    if foreign:
        shown = " and ".join(f"'{name}'" for name in foreign)
        dropped = [name for name in foreign if name not in releases]
        texts = [f"drop = {json.dumps([*layer.drop, *dropped])}"] if dropped else []
        texts += [f"versions = {{ keys = {json.dumps([*layer.version_keys, *releases])} }}"] if releases else []
        hint = f"write {' and '.join(texts)}"
        report(db, layer.at, f"entries have the key {shown}, which PyTorch's do not have", hint)
    versions = layer.versions or Versions(())
    if releases or misspelt:
        named = (*(name for name in layer.version_keys if name in entry_keys), *misspelt, *releases)
        layer = replace(layer, versions=replace(versions, keys=named))
    return replace(layer, drop=(*layer.drop, *foreign)) if foreign else layer


def report(db: Database, at: Path, problem: str, hint: str, needle: str = "", rule: str = "") -> None:
    """Reports an error about a key of the description, or the warning `rule`."""
    db.report(Problem("set", "", "", problem, hint, place_of_key(db, at), needle, warning=bool(rule), rule=rule))


def unused(db: Database, key: str, entry_keys: Mapping[str, bool]) -> Iterator[Diagnostic]:
    """The names in a description that no entry of a file has, and the lists that it lacks."""
    layer = source(db, key)
    own = KEYS[layer.role] if layer.layer else ()
    others = tuple(name for name in (*entry_keys, *own) if name not in (*layer.drop, *layer.keep))
    named = {"drop": layer.drop, "keep": layer.keep, "versions": layer.version_keys}
    for at, name in ((at, name) for at, names in named.items() for name in names if entry_keys):
        is_misspelt = at == "versions" and closest(name, others)  # `rules` reports it
        if name not in entry_keys and not (at == "keep" and name in own) and not is_misspelt:
            hint = nearest(name, others) or f"entries have {', '.join(entry_keys)}"
            path = (*layer.at, at, "keys") if at == "versions" else (*layer.at, at)
            problem = f"no entry has the key '{name}'"
            yield Diagnostic(path, problem, hint, name, follows=True, suspected="unmatched-key")
    for name, hint in missing_lists(db, key):
        problem = f"the file has no list '{name}'"
        yield Diagnostic((*layer.at, "list"), problem, hint, name, suspected="unmatched-list")


@query
def missing_lists(db: Database, key: str) -> list[tuple[str, str]]:
    """The lists that a file lacks, each with a hint; none if it cannot be read, or if this is an error."""
    layer, whole = source(db, key), text(db, key)
    present = keys_of(whole) if whole is not None and layer.lists else None
    if whole is None or present is None:
        return []
    try:
        check_lists(whole, layer.lists)
    except SpecError:
        return []
    others = ", ".join(name for name in present if name not in layer.lists)
    return [(name, f"it has {others}") for name in layer.lists if name not in present]
