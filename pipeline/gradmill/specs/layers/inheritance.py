"""Descriptions on top of one another, read as one: what is inherited, and where each key is written.

Tables are merged key by key. Lists of tables, and the lists of names in NAMES, come after those of the base; any other
value replaces the base's. Paths of a base are relative to the base.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from msgspec import Struct

from gradmill.specs.layers.description import Origin
from gradmill.specs.layers.releases import Path, Value
from gradmill.specs.layers.written import NAMES
from gradmill.specs.location import DESCRIPTION

_ADDED = (*NAMES, "layer", "marks", "facts", "ignore", "rewrite", "drop", "replace")
_ROLES = ("native", "tags", "derivatives")


class Level(Struct, frozen=True):
    """One description of several. `file`: its key among the set's files; `moved`: as in ForRelease."""

    file: str
    value: Value
    moved: dict[Path, Path]


class Merged:
    """Several descriptions as one. `value`: its keys."""

    def __init__(self) -> None:
        self.value: Value = {}
        self._from: dict[Path, tuple[Level, Path]] = {}  # the description that each key is from, and its path there
        self._levels: list[Level] = []

    def add(self, level: Level) -> None:
        """Adds a description on top of those added before, the base first."""
        self.value.pop("name", None)  # every set has its own
        self._levels.append(level)
        self._merge(self.value, level.value, (), level)

    def _merge(self, into: Value, table: Value, path: Path, level: Level) -> None:
        for key, item in table.items():
            here, old = (*path, key), into.get(key)
            if isinstance(item, dict) and isinstance(old, dict) and path[-1:] != ("slots",):
                self._merge(old, item, here, level)
            elif key in _ADDED and isinstance(old, list) and isinstance(item, list):
                into[key] = [*old, *item]
                for place in range(len(item)):
                    self._from[(*here, str(len(old) + place))] = level, (*here, str(place))
            else:
                into[key] = copied(item)
                self._from = {at: of for at, of in self._from.items() if at[: len(here)] != here}
                self._from[here] = level, here

    def origins(self) -> tuple[Origin, ...]:
        """Where keys are written, by path; the longest path that a key's path starts with counts."""
        rows = {path: Origin(path, level.file, _moved(level, at)) for path, (level, at) in self._from.items()}
        for path, (level, at) in self._from.items():
            for inner, written in level.moved.items():
                here = (*path, *inner[len(at) :])
                if inner[: len(at)] == at and _longest(self._from, here) == path:
                    rows[here] = Origin(here, level.file, written)
        return tuple(rows.values())


def _moved(level: Level, path: Path) -> Path:
    """Where a key of a description is written."""
    known = _longest(level.moved, path)
    return path if known is None else (*level.moved[known], *path[len(known) :])


def _longest(known: Collection[Path], path: Path) -> Path | None:
    """The longest of the known paths that a path starts with; None if there is none."""
    return max((each for each in known if path[: len(each)] == each), key=len, default=None)


def origin_of(origins: Sequence[Origin], path: Path) -> tuple[str, Path]:
    """The key of the description that a key is written in, and its path there."""
    by_path = {each.path: each for each in origins}
    known = _longest(by_path, path)
    return (DESCRIPTION, path) if known is None else (by_path[known].file, (*by_path[known].at, *path[len(known) :]))


def copied(value: Any) -> Any:
    """A copy of the tables in a value."""
    return {key: copied(item) for key, item in value.items()} if isinstance(value, dict) else value


def rebased(value: Any, change: Callable[[str], str], path: Path = ()) -> Any:
    """The value of a description with its paths changed."""
    if isinstance(value, dict):
        return {key: rebased(item, change, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [rebased(item, change, (*path, str(place))) for place, item in enumerate(value)]
    return change(value) if isinstance(value, str) and value and _is_path(path) else value


def _is_path(path: Path) -> bool:
    names = [part for part in path if not part.isdecimal()]
    if names[:1] == ["layer"]:
        return names[1:2] == ["helpers"] or names[-1] in ("file", "diff") or (len(names) == 2 and names[1] in _ROLES)
    if names[:1] == ["marks"]:
        return names[-1] == "file"
    if names[:1] == ["backend"]:
        return names[-1] in ("file", "kernels")
    if names == ["hooks"]:
        return True
    return names[0] == "family" and len(names) in (3, 5) and names[-1] in ("template", "templates")
