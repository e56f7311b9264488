"""The part of a description that applies to one release: the one place that reads `since` and `until`.

It works on the values of the TOML file, so a new key with `since` and `until` needs no code here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gradmill.specs.layers.description import Moved
from gradmill.specs.layers.written import NAMES, is_alternative

Path = tuple[str, ...]
Value = dict[str, Any]

_VALUE = "value"  # only tables in lists have this key: a value for some releases


def minor_of(version: str) -> tuple[int, ...]:
    """`(2, 13)` of `2.13.0`."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def applies(release: str, since: str, until: str) -> bool:
    """Whether a release is between two others, both included; "" for no bound, or for no release."""
    at = minor_of(release)
    return not at or ((not since or minor_of(since) <= at) and (not until or at <= minor_of(until)))


def bounds_of(table: Value) -> tuple[str, str]:
    """The values of `since` and `until` in a table, "" for those that it lacks."""
    since, until = table.get("since", ""), table.get("until", "")
    return (since if isinstance(since, str) else ""), (until if isinstance(until, str) else "")


def bounded(value: Any, at: Path = ()) -> Iterator[tuple[Path, str, str]]:
    """Each table with a bound: its path, `since` and `until`."""
    if isinstance(value, dict):
        if any(bounds := bounds_of(value)):
            yield (at, *bounds)
        for key, inner in value.items():
            yield from bounded(inner, (*at, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from bounded(inner, (*at, str(place)))


def doubled(value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """The values of a key that apply to the same release as an earlier one: the path, and a release of both, "" if
    they share all."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        here = (*at, str(key))
        if isinstance(inner, list) and is_alternative(here):
            all_bounds = [bounds_of(each) for each in inner]
            for place, bounds in enumerate(all_bounds):
                shared = [release for other in all_bounds[:place] if (release := _shared(bounds, other)) is not None]
                yield from (((*here, str(place)), release) for release in shared[:1])
        elif isinstance(inner, (dict, list)):
            yield from doubled(inner, here)


def _shared(one: tuple[str, str], other: tuple[str, str]) -> str | None:
    """A release that two pairs of bounds both include, "" for any; None if there is none."""
    since = max(one[0], other[0], key=minor_of)
    untils = [until for until in (one[1], other[1]) if until]
    until = min(untils, key=minor_of, default="")
    return None if until and minor_of(since) > minor_of(until) else since or until


class ForRelease:
    """The part of a description that applies to a release. `value`: without `since` and `until`."""

    def __init__(self, value: Value, release: str) -> None:
        self._release = release
        self._moved: dict[Path, Path] = {}
        self.value = self._table(value, (), ())

    @property
    def moved(self) -> tuple[Moved, ...]:
        """Where the members of its lists and its values are written, if elsewhere."""
        return tuple(Moved(path, written) for path, written in self._moved.items())

    def _table(self, table: Value, path: Path, at: Path) -> Value:
        """A table of the description, which is written at `at`, with the keys that apply."""
        result: Value = {}
        for key, item in table.items():
            here, there = (*path, key), (*at, key)
            if key in NAMES and isinstance(item, str) and "slots" not in path:
                result[key] = [item]
            elif isinstance(item, list):
                members = list(self._members(item, here, there))
                if is_alternative(here):
                    result |= {key: members[-1]} if members else {}
                else:
                    result[key] = members
            elif not isinstance(item, dict):
                result |= {key: item} if key not in ("since", "until") else {}
            elif self._applies(item):
                result[key] = self._table(item, here, there)
        return result

    def _members(self, items: list[Any], path: Path, at: Path) -> Iterator[Any]:
        """The members of a list that apply. Those of a value are at the path of its key: one applies."""
        number = 0
        for place, item in enumerate(items):
            there: Path = (*at, str(place))
            if isinstance(item, dict) and not self._applies(item):
                continue
            values = [item]
            if isinstance(item, dict) and _VALUE in item:
                values, there = item[_VALUE] if isinstance(item[_VALUE], list) else [item[_VALUE]], (*there, _VALUE)
            for each in values:
                here = path if is_alternative(path) else (*path, str(number))
                if here != there:
                    self._moved[here] = there
                yield self._table(each, here, there) if isinstance(each, dict) else each
                number += 1

    def _applies(self, table: Value) -> bool:
        return applies(self._release, *bounds_of(table))


def written_at(moved: Sequence[Moved], path: Path) -> Path:
    """Where the key at a path of a description for one release is written, by the longest path that it starts with."""
    known = [each for each in moved if path[: len(each.path)] == each.path]
    longest = max(known, key=lambda each: len(each.path), default=Moved((), ()))
    return (*longest.written, *path[len(longest.path) :])
