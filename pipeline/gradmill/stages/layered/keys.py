"""The keys of a layer's entries compared with those in the description: above all the version keys, which name the
releases that an entry applies to.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from gradmill.model.keys import KEYS
from gradmill.model.layers import SpecSource, Versions, role_of
from gradmill.problems.names import closest
from gradmill.problems.problem import Problem, SpecError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.rules.layers.versions import listed_versions
from gradmill.specs.layers.lists import check_lists, keys_of, value_of
from gradmill.stages.layered.files import text
from gradmill.stages.set import place_of_key, source


def rules(db: Database, key: str, entry_keys: Mapping[str, bool]) -> SpecSource:
    """The description's rules for a file. Version keys that it omits or misspells are reported, and added to the rules,
    as are keys of another generator. `entry_keys`: the keys of the entries, each with whether its values look like
    releases."""
    layer = source(db, key)
    if not layer.layer or not entry_keys:
        return layer
    foreign = _foreign_keys(layer, entry_keys)
    if foreign:
        shown = " and ".join(f"'{name}'" for name in foreign)
        drop = ", ".join(f'"{name}"' for name in (*layer.drop, *foreign))
        problem, hint = f"entries have the key {shown}, which PyTorch's do not have", f"write drop = [{drop}]"
        db.report(Problem("set", "", "", problem, hint, place_of_key(db, layer.at)))
        layer = replace(layer, drop=(*layer.drop, *foreign))
    named = layer.versions.named if layer.versions is not None else ()
    missing = [name for name in named if name not in entry_keys]
    kept = set(layer.keep) or entry_keys.keys()
    others = _unnamed_keys(layer, entry_keys)
    unnamed = [name for name in others if name in kept]
    misspelt = {name: near for name in missing if (near := closest(name, tuple(others)))}
    unnamed += [near for near in dict.fromkeys(misspelt.values()) if near not in unnamed]
    for name in misspelt:
        _report(db, layer, f"no entry has the key '{name}'", nearest(name, others), "keys", name)
    if unnamed and not misspelt:
        _report(db, layer, *_unnamed(db, key, unnamed, named))
    elif others and layer.versions is None:
        _report(db, layer, *_unnamed(db, key, others, named), warning="unnamed-versions")
    if not unnamed:
        return layer
    versions = layer.versions or Versions((), _list_of_releases(db, key))
    return replace(
        layer, versions=replace(versions, keys=tuple(name for name in (*named, *unnamed) if name in entry_keys))
    )


def _foreign_keys(layer: SpecSource, entry_keys: Mapping[str, bool]) -> list[str]:
    """The keys of functions that are not PyTorch's, and that the description neither drops nor misspells."""
    if layer.role != "native" or layer.keep:
        return []
    versions = layer.versions.named if layer.versions is not None else ()
    known = (*KEYS["native"], *layer.drop, *versions)
    others = [name for name, versioned in entry_keys.items() if name not in known and not versioned]
    return [name for name in others if not closest(name, known)]


def _unnamed_keys(layer: SpecSource, entry_keys: Mapping[str, bool]) -> list[str]:
    """The keys with releases as values that the description does not name."""
    named = layer.versions.named if layer.versions is not None else ()
    known = {*KEYS[layer.role], *named, *layer.drop}
    return [name for name, versioned in entry_keys.items() if versioned and name not in known]


def _unnamed(db: Database, key: str, names: list[str], named: tuple[str, ...]) -> tuple[str, str]:
    """The problem and the hint for version keys that the description does not name."""
    shown = " and ".join(f"'{name}'" for name in names)
    keys = ", ".join(f'"{name}"' for name in (*named, *names))
    keys = f"[{keys}]" if len(named) + len(names) > 1 else keys
    listed = _list_of_releases(db, key)
    more = f', all = "{listed}"' if listed else ""
    problem = f"entries name their releases under {shown}, which `versions` does not name"
    return problem, f"write versions = {{ keys = {keys}{more} }}"


def _list_of_releases(db: Database, key: str) -> str:
    """The key of a file that lists releases; "" if there is none."""
    whole = text(db, key) or ""
    for name in keys_of(whole) or ():
        try:
            if listed_versions(value_of(whole, name), name):
                return name
        except SpecError:
            continue
    return ""


def _report(
    db: Database, of: SpecSource, problem: str, hint: str, at: str = "", needle: str = "", *, warning: str = ""
) -> None:
    path = place_of_key(db, (*of.at, "versions", *([at] if at else [])))
    db.report(Problem("set", "", "", problem, hint, path, needle, warning=bool(warning), rule=warning))


def unused(db: Database, key: str, entry_keys: Mapping[str, bool]) -> list[tuple[tuple[str, ...], str, str]]:
    """The names in a description that no entry of the file has: the path of the key, the name, a hint."""
    layer = source(db, key)
    if not layer.layer or not entry_keys:
        return []
    known = [name for name in (*entry_keys, *KEYS[role_of(key)]) if name not in (*layer.drop, *layer.keep)]
    rows: list[tuple[tuple[str, ...], str]] = [(("drop",), name) for name in layer.drop]
    rows += [(("keep",), name) for name in layer.keep if name not in KEYS[role_of(key)]]
    others = tuple(_unnamed_keys(layer, entry_keys))  # `rules` reports a key that is similar to one of them
    named = layer.versions.named if layer.versions is not None else ()
    rows += [(("versions", "keys"), name) for name in named if not closest(name, others)]
    rows = [(at, name) for at, name in rows if name not in entry_keys]
    return [(at, name, nearest(name, known) or f"entries have {', '.join(entry_keys)}") for at, name in rows]


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
