"""The keys that entries of a layer have, next to what the description says of them: above all, which say for which
releases an entry holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from pipeline.model.layers import Source, Versions, role_of
from pipeline.problems.names import closest
from pipeline.problems.problem import Problem, SpecError, nearest
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.rules.layers.versions import listed_versions
from pipeline.rules.native.settings import KEYS as NATIVE_KEYS
from pipeline.specs.layers.lists import keys_of, value_of
from pipeline.stages.layered.files import text
from pipeline.stages.set import source

_KNOWN = {
    "native": NATIVE_KEYS,
    "derivatives": {"name", "dispatch", "output_differentiability"},
    "tags": {"tag", "desc"},
}


def rules(db: Database, key: str, found: Mapping[str, bool]) -> Source:
    """What the description says of a file. Where it leaves out, or misspells, the keys that say for which releases an
    entry holds, that is reported, and entries are read as if it named them. `found`: the keys that entries have."""
    given = source(db, key)
    if not given.layer or not found:
        return given
    named = given.versions.named if given.versions is not None else ()
    missing = [name for name in named if name not in found]
    kept = set(given.keep) or found.keys()
    known = {*_KNOWN[given.role], *named, *given.drop}
    others = [name for name, versioned in found.items() if versioned and name not in known]
    read = [name for name in others if name in kept]
    read += [near for name in missing if (near := closest(name, tuple(others))) and near not in read]
    for name in missing:
        hint = nearest(name, others) or f"entries have {', '.join(found)}"
        _report(db, given, f"no entry has the key '{name}'", hint, "keys", name)
    if read and not missing:
        _report(db, given, *_unread(db, key, read, named))
    elif others and given.versions is None:
        _report(db, given, *_unread(db, key, others, named), warning=True)
    if not read:
        return given
    versions = given.versions or Versions((), _list_of_releases(db, key))
    return replace(given, versions=replace(versions, keys=tuple(name for name in (*named, *read) if name in found)))


def _unread(db: Database, key: str, names: list[str], named: tuple[str, ...]) -> tuple[str, str]:
    """The problem that keys of releases are not named, and what to write."""
    shown = " and ".join(f"'{name}'" for name in names)
    keys = ", ".join(f'"{name}"' for name in (*named, *names))
    keys = f"[{keys}]" if len(named) + len(names) > 1 else keys
    listed = _list_of_releases(db, key)
    more = f', all = "{listed}"' if listed else ""
    problem = f"entries say by {shown} for which releases they hold, and `versions` does not name that"
    return problem, f"write versions = {{ keys = {keys}{more} }}"


def _list_of_releases(db: Database, key: str) -> str:
    """The key of a file that lists releases; "" where there is none."""
    whole = text(db, key) or ""
    for name in keys_of(whole) or ():
        try:
            if listed_versions(value_of(whole, name), name):
                return name
        except SpecError:
            continue
    return ""


def _report(
    db: Database, of: Source, problem: str, hint: str, at: str = "", needle: str = "", *, warning: bool = False
) -> None:
    path = (*of.at, "versions", *([at] if at else []))
    db.report(Problem("set", "", "", problem, hint, path, needle, warning=warning))


def unused(db: Database, key: str, found: Mapping[str, bool]) -> list[tuple[str, str, str]]:
    """What a description says of a file that nothing in it has: the key of the description, the name, a hint."""
    given = source(db, key)
    if not given.layer or not found:
        return []
    known = [name for name in (*found, *_KNOWN[role_of(key)]) if name not in (*given.drop, *given.keep)]
    rows = [("drop", name) for name in given.drop if name not in found]
    rows += [("keep", name) for name in given.keep if name not in found and name not in _KNOWN[role_of(key)]]
    return [(at, name, nearest(name, known) or f"entries have {', '.join(found)}") for at, name in rows]


@query
def missing_lists(db: Database, key: str) -> list[tuple[str, str]]:
    """The lists that a file lacks, with a hint each; none where it cannot be read, or has none of them at all."""
    given, whole = source(db, key), text(db, key)
    there = keys_of(whole) if whole is not None and given.lists else None
    if there is None or not set(given.lists) & set(there):
        return []
    others = ", ".join(name for name in there if name not in given.lists)
    return [(name, f"it has {others}") for name in given.lists if name not in there]
