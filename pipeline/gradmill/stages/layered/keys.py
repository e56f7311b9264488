"""A layer's entries as they apply: in the releases that they name, with the keys that the description keeps, under the
layer's name. Keys and lists of a file that the description omits or misspells are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gradmill.model.keys import KEYS
from gradmill.model.layers import LAYER_MARK, SpecSource, Versions, role_of
from gradmill.problems.names import closest
from gradmill.problems.problem import LAST, Problem, SpecError, nearest, problem_of
from gradmill.query.database import Database
from gradmill.query.memo import encode
from gradmill.query.query import query
from gradmill.rules.layers.entry import (
    Key,
    applies,
    in_namespace,
    is_listed,
    kept_keys,
    listed_versions,
    operator_of,
    rewritten,
)
from gradmill.specs.layers.lists import check_lists, keys_of, value_of
from gradmill.specs.layers.reading import Diagnostic
from gradmill.stages.layered.files import Chosen, Named, name_of, of_file, text
from gradmill.stages.set import place_of_key, source, version


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
        report(db, Diagnostic(at, f"no entry has the key '{name}'", f"did you mean '{near}'?", name))
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
        report(db, Diagnostic(layer.at, f"entries have the key {shown}, which PyTorch's do not have", hint))
    versions = layer.versions or Versions(())
    if releases or misspelt:
        named = (*(name for name in layer.version_keys if name in entry_keys), *misspelt, *releases)
        layer = replace(layer, versions=replace(versions, keys=named))
    return replace(layer, drop=(*layer.drop, *foreign)) if foreign else layer


def report(db: Database, each: Diagnostic) -> None:
    """Reports an error of the description, or a warning."""
    place, rule, rank = place_of_key(db, each.path), each.suspected, LAST if each.follows else 0
    message = (each.problem, each.hint, place, each.needle)
    db.report(Problem("set", "", "", *message, warning=bool(rule), rank=rank, rule=rule))


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


@query
def releases_of(db: Database, key: str, name: str) -> tuple[Key, ...]:
    """The releases that a file lists under a name; none if it lists none."""
    whole = text(db, key)
    if not name or whole is None:
        return ()
    try:
        listed = value_of(whole, name)
        if listed is None:
            misspelt = nearest(name, keys_of(whole) or ())
            hint = misspelt or "name the key that lists them; or leave `all` out"
            at = (*source(db, key).at, "versions", "all")
            rule = "" if misspelt else "unmatched-list"
            report(db, Diagnostic(at, f"the file has no list of releases '{name}'", hint, name, suspected=rule))
            return ()
        versions = listed_versions(listed, name)
    except SpecError as error:
        db.report(of_file(key, error))
        return ()
    release = version(db)
    if not is_listed(release, versions):
        problem = f"'{name}' does not list the release {release}: entries do not apply to it"
        unlisted = SpecError(problem, rule="unlisted-release")
        db.report(replace(of_file(key, unlisted), warning=True))
    return versions


def choose(db: Database, key: str, named: Sequence[Named], keys: Mapping[str, bool]) -> list[Chosen]:
    """The entries that apply to the release, with the layer's changes, and the layer in their names. A rewritten entry
    is keyed by its new name."""
    layer = rules(db, key, keys)
    mark = f"{LAYER_MARK}{layer.layer}" if layer.layer else ""
    chosen = []
    for place, (name, raw) in enumerate(named):
        value = _chosen(db, key, layer, name, raw)
        if value is not None:
            new_name = name_of(value, role_of(key)) if layer.rewrites and value is not raw else name
            chosen.append((place, f"{new_name}{mark}", value))
    return chosen


def _chosen(db: Database, key: str, of: SpecSource, name: str, raw: Raw) -> Raw | None:
    if not of.layer and not any(each.func == operator_of(name) for each in of.rewrites):
        return raw
    value = msgspec.msgpack.decode(raw)
    if not isinstance(value, dict):
        return raw
    try:
        if of.versions is not None:
            listed = releases_of(db, key, of.versions.all)
            if not applies(value, of.versions, listed, version(db)):
                return None
        entry = in_namespace(kept_keys(value, of), of.namespace)
        entry, unmatched = rewritten(entry, of.rewrites)
        for rewrite in unmatched:
            at = ("base", "rewrite", str(of.rewrites.index(rewrite)), "from")
            problem, hint = "the schema does not have the text", f"it is {value.get('func')}"
            report(db, Diagnostic(at, problem, hint, rewrite.from_, suspected="unmatched-text"))
        return Raw(encode(entry))
    except SpecError as error:
        entry_name = f"{name}{LAYER_MARK}{of.layer}" if of.layer else name
        db.report(replace(problem_of(error, role_of(key), entry_name, operator_of(name)), file=key))
        return Raw(encode(kept_keys(value, of)))
