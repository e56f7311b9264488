"""Compares the generated code of two spec sets: unit by unit, then the text around units, then where units are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from msgspec import Struct

from gradmill.model.entries import by_key
from gradmill.reports.diff.code import Code
from gradmill.reports.diff.hunks import Hunk, hunks, own_names, without_names
from gradmill.reports.diff.model import SetSide

ChangeKind = Literal["added", "removed", "changed", "moved"]
_Place = tuple[str, str]  # a family, and one of its files without shard


class FileChange(Struct, frozen=True):
    """A generated file whose bytes differ."""

    name: str
    change: ChangeKind


class CodeName(Struct, frozen=True):
    """A unit by its operator and its name in C++; or a generated file, without operator."""

    op: str
    name: str


class CodeChange(Struct, frozen=True):
    """A change of the text of units in a file, of the text around the units of files (then without family), or of
    places: "moved" units are in another shard, or in another order. Without hunks, files differ in white space
    between units."""

    family: str
    file: str  # without its shard
    change: ChangeKind
    names: tuple[CodeName, ...]  # all that have the same change
    hunks: tuple[Hunk, ...]  # of the first; in those of the others only their own names may differ


class CodeReport(Struct, frozen=True):
    """The changes of generated code from `before` to `after`. No byte differs if and only if both lists are empty."""

    before: SetSide
    after: SetSide
    files: tuple[FileChange, ...]
    changes: tuple[CodeChange, ...]


_Found = tuple[CodeChange, frozenset[str]]  # a change of one unit or file, and the names that are its own


def compare_code(before: Code, after: Code) -> CodeReport:
    """The changes from `before` to `after`."""
    files = tuple(_files(before, after))
    places: dict[_Place, list[str]] = {}
    for each in files:
        file = after.files.get(each.name) or before.files[each.name]
        places.setdefault((file.family, file.name), []).append(each.name)
    texts, around = list(_texts(places, before, after)), list(_around(files, before, after))
    moved = [each for place in places for each in _moved(place, before, after)]
    reported = {(each.family, each.file) for each in (*(text for text, _ in texts), *moved)}
    rest = _rest(places, reported, {each.names[0].name for each, _ in around})
    return CodeReport(before.side, after.side, files, (*_alike(texts), *_alike(around), *moved, *rest))


def _files(before: Code, after: Code) -> Iterator[FileChange]:
    for name in {**after.files, **before.files}:
        old, new = before.files.get(name), after.files.get(name)
        if old is None or new is None:
            yield FileChange(name, "added" if old is None else "removed")
        elif old.digest != new.digest:
            yield FileChange(name, "changed")


def _texts(places: Iterable[_Place], before: Code, after: Code) -> Iterator[_Found]:
    """The units whose text differs, in the order of their files, then of all units."""
    order = {key: number for number, key in enumerate((*places, *after.units, *before.units))}
    keys = (key for key in {**after.texts, **before.texts} if key[:2] in order)
    for family, file, unit in sorted(keys, key=lambda key: (order[key[:2]], order[key[0], key[2]])):
        old, new = (code.texts.get((family, file, unit), {}) for code in (before, after))
        if old == new:
            continue
        sides = [each for code in (after, before) if (each := code.units.get((family, unit))) is not None]
        own = frozenset[str]().union(*(own_names(each.op, each.title, each.schema) for each in sides))
        listed = [hunk for at in {**new, **old} for hunk in hunks(_piece(at), old.get(at, ""), new.get(at, ""))]
        change: ChangeKind = "changed" if old and new else "added" if new else "removed"
        yield CodeChange(family, file, change, (CodeName(sides[0].op, sides[0].title),), tuple(listed)), own


def _piece(place: str) -> str:
    return place.split("|", 2)[2]


def _around(files: Iterable[FileChange], before: Code, after: Code) -> Iterator[_Found]:
    """The generated files whose text around units differs."""
    for each in files:
        old, new = (code.files[each.name].around if each.name in code.files else "" for code in (before, after))
        if old != new:
            stem = each.name.rpartition("/")[2].partition(".")[0]
            base, _, shard = stem.removesuffix("Everything").rpartition("_")
            own = frozenset({stem, stem.removesuffix("Everything"), base, shard} - {""})
            yield CodeChange("", "", each.change, (CodeName("", each.name),), tuple(hunks("", old, new))), own


def _alike(found: Iterable[_Found]) -> Iterator[CodeChange]:
    """Each change once, with all that have it. Hunks are together that the same ones have."""
    alike: dict[tuple[object, ...], list[tuple[CodeChange, Hunk]]] = {}
    for each, own in found:
        times = Counter[str]()
        for hunk in each.hunks:
            text = without_names(hunk, own)
            key = (each.family, each.file, each.change, text, times[text])
            times[text] += 1  # a unit may have the same change twice
            alike.setdefault(key, []).append((each, hunk))
    together = by_key(
        ((first.family, first.file, first.change, tuple(each.names[0] for each, _ in listed)), hunk)
        for listed in alike.values()
        for first, hunk in listed[:1]
    )
    for (family, file, change, names), hunks_of_all in together.items():
        yield CodeChange(family, file, change, names, tuple(hunks_of_all))


def _moved(place: _Place, before: Code, after: Code) -> Iterator[CodeChange]:
    """The units that are in other generated files, or in another order in one."""
    both = {unit for *at, unit in before.texts.keys() & after.texts.keys() if (*at,) == place}
    names = [name for code in (before, after) for name, file in code.files.items() if (file.family, file.name) == place]
    moved: dict[str, None] = {}
    for name in dict.fromkeys(names):
        sides = ((code.files[name].units if name in code.files else ()) for code in (before, after))
        moved |= dict.fromkeys(_misplaced(*([unit for unit in side if unit in both] for side in sides)))
    if moved:
        units = (after.units[place[0], unit] for unit in moved)
        yield CodeChange(*place, "moved", tuple(CodeName(unit.op, unit.title) for unit in units), ())


def _misplaced(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The units that only one of two lists has, or that are in another order."""
    if old == new:
        return
    matches = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    equal = {unit for match in matches for unit in old[match.a : match.a + match.size]}
    yield from (unit for unit in dict.fromkeys((*new, *old)) if unit not in equal)


def _rest(places: dict[_Place, list[str]], reported: set[_Place], around: set[str]) -> Iterator[CodeChange]:
    """The files that differ, but in no unit, nor in the text around units, nor in an order."""
    for place, names in places.items():
        left = tuple(CodeName("", name) for name in names if name not in around)
        if left and place not in reported:
            yield CodeChange(*place, "changed", left, ())
