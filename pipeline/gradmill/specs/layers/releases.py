"""The part of a description that applies to one release: the one place that reads `since` and `until`.

It works on the values of the TOML file, so a new key with `since` and `until` needs no code here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from msgspec import Meta, Struct

from gradmill.model.layers import form

Path = tuple[str, ...]
Value = dict[str, Any]
Moved = dict[Path, Path]  # keys of the description for a release that are written at another path, as lists are shorter

VALUES = ("comment", "templates")  # keys with a value, or a list of tables with one for some releases each
OfRelease = Annotated[str, form("is not a release", "write one such as 2.13", pattern=r"^(\d+\.\d+(\.\d+)?)?$")]


class Bounded(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What may apply to some releases only."""

    since: Annotated[OfRelease, Meta(description="the first release that this applies to")] = ""
    until: Annotated[OfRelease, Meta(description="the last release that this applies to")] = ""

    def __post_init__(self) -> None:
        if minor_of(self.since) > minor_of(self.until) > ():
            raise ValueError(f"since {self.since} is later than until {self.until}")


def minor_of(version: str) -> tuple[int, ...]:
    """`(2, 13)` of `2.13.0`."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def applies(value: Any, release: str) -> bool:
    """Whether a value applies to a release, by `since` and `until` if it is a table; any does to "", no release."""
    own = value if isinstance(value, dict) else {}
    first, last = (minor_of(own[key]) if isinstance(own.get(key), str) else () for key in ("since", "until"))
    at = minor_of(release)
    return not at or first <= at <= (last or at)


def for_release(value: Value, release: str) -> tuple[Value, Moved]:
    """The part of a valid description that applies to a release, without bounds, and what is written elsewhere."""
    moved: Moved = {}

    def part(item: Any, path: Path, at: Path) -> Any:
        """What applies of a value that is written at `at`, for the path where it is then."""
        if path[-1:] != at[-1:]:
            moved[path] = at
        if isinstance(item, list):
            kept = [(str(place), each) for place, each in enumerate(item) if applies(each, release)]
            return [part(each, (*path, str(i)), (*at, place)) for i, (place, each) in enumerate(kept)]
        if not isinstance(item, dict):
            return item
        result = {}
        for key, inner in item.items():
            there = (*at, key)
            if key in VALUES and isinstance(inner, list):  # the last that applies counts
                for place in [str(place) for place, each in enumerate(inner) if applies(each, release)][-1:]:
                    result[key] = part(inner[int(place)]["value"], (*path, key), (*there, place, "value"))
            elif applies(inner, release) and not (key in ("since", "until") and isinstance(inner, str)):
                result[key] = part(inner, (*path, key), there)
        return result

    return part(value, (), ()), moved


def written_at(moved: Moved, path: Path) -> Path:
    """Where the key at a path of a description for one release is written, by the longest path that it starts with."""
    size = next((size for size in range(len(path), 0, -1) if path[:size] in moved), 0)
    return (*moved.get(path[:size], ()), *path[size:])
