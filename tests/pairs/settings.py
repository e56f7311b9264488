"""The table of settings, what cannot go together and why, and the cases that cover all pairs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations
from random import Random
from typing import NamedTuple

from gradmill.families.subsets import TREES
from gradmill.families.table import FAMILIES
from gradmill.releases import KNOWN, minor
from pairs.sets import OF_SETS, SETS

Case = dict[str, str]  # a value for each setting
Pair = tuple[tuple[str, str], tuple[str, str]]


class Values(NamedTuple):
    """The values of a setting, the usual one first. `more`: those that only the slow tests have."""

    quick: tuple[str, ...]
    more: tuple[str, ...] = ()


# Where files are. A case has a folder of its own; `{folder}` is its path.
GENERATED = {"default": "", "relative": "my out", "absolute": "{folder}/absolute/out", "in the set": "{set}/generated"}
CACHE = {"default": "", "elsewhere": "{folder}/else where", "in generated": "{generated}/cache"}
STAMP = {"none": "", "elsewhere": "{folder}/stamp", "in generated": "{generated}/stamp"}
LISTS = {
    "": "",
    "mapping": "operators:\n  aten::exp: {}\n  aten::add.Tensor: {include_all_overloads: false}\n",
    "list": "- aten::exp\n",
}  # of selected operators, which all sets have
NAMES = "aten::exp,aten::add.Tensor"  # the same without a file
SETTINGS: dict[str, Values] = {
    "set": Values(
        tuple(name for name, each in SETS.items() if not each.slow),
        tuple(name for name, each in SETS.items() if each.slow),
    ),
    "place": Values(("relative", "absolute", "inside", "link")),
    "release": Values(("2.13.0", "2.4.1", "2.12.1", "2.15.0"), KNOWN),
    "release is in": Values(("the set", "the command", "newer")),
    "text": Values(("right", "a warning", "an error")),
    "strict": Values(("0", "1")),
    "layout": Values(("upstream", "split")),
    "shards": Values(("", "1", "23")),
    "families": Values(("", *OF_SETS[:2], *(",".join(OF_SETS[at::2]) for at in (2, 3)))),
    "operators": Values(("", *filter(None, LISTS)), ("names",)),
    "autograd": Values(("1", "0")),
    "graphs": Values(("", "graphs")),
    "lines": Values(("0", "1")),
    "program": Values(("gradmill", "doit", "doit -f")),
    "install": Values(("editable", "wheel")),
    "format": Values(("text", "json", "github", "sarif")),
    "generated": Values(tuple(GENERATED)),
    "cache": Values(tuple(CACHE)),
    "stamp": Values(tuple(STAMP)),
    "tree": Values(("", *TREES)),
    "before": Values(("nothing", "check", "other layout", "other families", "an edit")),
}


@cache
def _parameters(when: Callable[..., bool]) -> list[str]:
    return [name.replace("_", " ") for name in inspect.signature(when).parameters]


class Excluded(NamedTuple):
    """What cannot go together. `when` takes the values of the settings that its parameters are called."""

    reason: str
    when: Callable[..., bool]

    def holds(self, case: Mapping[str, str]) -> bool:
        """Whether it excludes a case, or a part of one that has all values that it asks for."""
        names = _parameters(self.when)
        return all(name in case for name in names) and self.when(*(case[name] for name in names))


EXCLUDED = (
    Excluded("doit writes no stamp", lambda program, stamp: program != "gradmill" and stamp != "none"),
    Excluded("the embedded set is named, not placed", lambda set, place: set in NAMED and place != "relative"),
    Excluded("the embedded set is not to be edited", lambda set, text: set in NAMED and text != "right"),
    Excluded("the embedded set is not to be edited", lambda set, before: set in NAMED and before == "an edit"),
    Excluded("no output goes into a package", lambda set, generated: set in NAMED and generated == "in the set"),
    Excluded("a wheel is a file: nothing is inside it", lambda set, place: SETS[set].is_file and place == "inside"),
    Excluded(
        "a wheel is a file: nothing is inside it",
        lambda set, generated: SETS[set].is_file and generated == "in the set",
    ),
    Excluded("the set is not for the release", lambda set, release: minor(release) not in SETS[set].releases),
    Excluded(
        "the set is not for the release",
        lambda set, release_is_in: release_is_in == "newer" and minor(NEWEST) not in SETS[set].releases,
    ),
    Excluded(
        "these sets say their release",
        lambda set, release_is_in: not SETS[set].may_be_silent and release_is_in != "the set",
    ),
    Excluded(
        "a release that is not known is read as the newest one, or refused",
        lambda release, release_is_in: release_is_in == "newer" and release != NEWEST,
    ),
    Excluded(
        "the set has no templates of the families",
        lambda set, families: not {*families.split(",")} <= {"", *SETS[set].families},
    ),
    Excluded(
        "autograd=0 leaves out families with kernels",
        lambda families, autograd: autograd == "0" and not KERNELS.isdisjoint(families.split(",")),
    ),
    Excluded("the set has no headers for graphs", lambda set, graphs: bool(graphs) and not SETS[set].graphs),
    Excluded("whole graphs are for 2.10 and newer", lambda graphs, release: bool(graphs) and _before(release, "2.10")),
    Excluded("a tree has the graphs elsewhere", lambda tree, graphs: bool(tree and graphs)),
    Excluded("in a tree, files of other families stay", lambda tree, before: tree and before == "other families"),
    Excluded("lines=1 is for the split layout", lambda layout, lines: lines == "1" and layout != "split"),
)
NAMED = tuple(name for name, each in SETS.items() if each.named)
NEWEST = KNOWN[-1]
KERNELS = {name for name, family in FAMILIES.items() if family.registered is not None}  # without autograd=0


def _before(release: str, other: str) -> bool:
    return [*map(int, release.split(".")[:2])] < [*map(int, other.split("."))]


def excluded(case: Mapping[str, str]) -> str:
    """Why there is no such case, nor one with more settings; "" where there may be."""
    return next((each.reason for each in EXCLUDED if each.holds(case)), "")


def table(*, quick: bool, seed: int | None = None) -> dict[str, tuple[str, ...]]:
    """The values of each setting. `seed`: in another order, which gives other cases."""
    result = {
        name: tuple(dict.fromkeys((*each.quick, *(() if quick else each.more)))) for name, each in SETTINGS.items()
    }
    if seed is None:
        return result
    random = Random(seed)
    return {name: tuple(random.sample(values, len(values))) for name, values in result.items()}


@cache
def cases(*, quick: bool, seed: int | None = None) -> tuple[Case, ...]:
    """Cases that have every pair of values that can go together."""
    values = table(quick=quick, seed=seed)
    missing = dict.fromkeys(pairs_of_table(values))  # in their order
    result = []
    for pair in list(missing):
        case = _around(pair, values, missing) if pair in missing else None
        if case is not None:
            result.append(case)
            for found in pairs_of(case):
                missing.pop(found, None)
    return tuple(result)


def pairs_of(case: Mapping[str, str]) -> Iterator[Pair]:
    """The pairs of values that a case has."""
    return combinations(case.items(), 2)


def pairs_of_table(values: Mapping[str, tuple[str, ...]]) -> Iterator[Pair]:
    """All pairs of values."""
    for (one, ones), (other, others) in combinations(values.items(), 2):
        yield from (((one, a), (other, b)) for a in ones for b in others)


def _around(pair: Pair, values: Mapping[str, tuple[str, ...]], missing: Mapping[Pair, None]) -> Case | None:
    """A case that has the pair, and of others that are missing some; None where there is no case that has it."""
    open_ = [name for name in values if name not in dict(pair)]

    def gain(part: Mapping[str, str], name: str, value: str) -> int:
        values = [((other, chosen), (name, value)) for other, chosen in part.items()]
        return -sum(each in missing or each[::-1] in missing for each in values)

    def filled(part: Case, left: list[str]) -> Case | None:
        if excluded(part):
            return None
        if not left:
            return {name: part[name] for name in values}
        name = left[0]
        for value in sorted(values[name], key=lambda value: gain(part, name, value)):
            whole = filled({**part, name: value}, left[1:])
            if whole is not None:
                return whole
        return None

    return filled(dict(pair), open_)


def impossible(values: Mapping[str, tuple[str, ...]], all_cases: tuple[Case, ...]) -> dict[Pair, str]:
    """The pairs that no case has, and why."""
    there = {pair for case in all_cases for pair in pairs_of(case)}
    return {pair: excluded(dict(pair)) for pair in pairs_of_table(values) if pair not in there}


def title(case: Case) -> str:
    """What a case is called: the values that are not the usual ones."""
    unusual = (f"{name}={value}" for name, value in case.items() if value != SETTINGS[name].quick[0])
    return " ".join(unusual) or "all as usual"
