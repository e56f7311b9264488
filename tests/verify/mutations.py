"""Formulas made wrong in ways that people do, and whether `gradmill verify` reports them.

    python -m tests.campaigns verify [--count 300] [--seed N] [--minutes M] [--only NAME ...] [--releases VERSION ...]

All of a batch are in one copy of the installed torch's specs, one in each definition: so they compile together. What is
not reported is printed with its formula, and whether it changes a value at all. With --releases, the formulas that
other releases have in place of the installed torch's, for the same schemas: all are printed with what became of them.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zipfile import ZipFile

from never_wrong.campaign import options
from releases import WHEELS, download, find_wheel

from verify.edited import CACHE, Definitions, Failed, installed, load, operator, rejected, verify
from verify.effects import Effects

_KEYS = ("name", "dispatch", "output_differentiability")
_TYPES = re.compile(r"\bTensor (\w+)")
_AT_ONCE = 100  # mutations in a batch
_NO_REPORT = 2


class Mutation(NamedTuple):
    """One wrong formula."""

    kind: str
    definition: str
    key: str
    before: str
    after: str


Mutate = Callable[[str, str, list[str], Random], str | None]  # of a formula, its key and the names of tensors


def _forward(key: str) -> bool:
    return key.startswith("result") or key in ("values", "Q", "L", "U", "S", "eigenvalues")


def argument(formula: str, key: str, names: list[str], random: Random) -> str | None:
    used = [name for name in names if re.search(rf"\b{name}\b(?!\()", formula)]
    others = [name for name in names if name not in used[:1]]
    if not used or not others:
        return None
    return re.sub(rf"\b{used[0]}\b(?!\()", random.choice(others), formula, count=1)


def term(formula: str, key: str, names: list[str], random: Random) -> str | None:
    parts = _terms(formula)
    return None if len(parts) < 2 else " + ".join(parts[1:])


def branch(formula: str, key: str, names: list[str], random: Random) -> str | None:
    for old, new in (
        (" >= ", " > "),
        (" <= ", " < "),
        (" > ", " >= "),
        (" < ", " <= "),
        (".ge(", ".gt("),
        (".le(", ".lt("),
    ):
        if old in formula:
            return formula.replace(old, new, 1)
    return None


def mask(formula: str, key: str, names: list[str], random: Random) -> str | None:
    cut = re.sub(r"\.masked_fill_?\([^()]*(\([^()]*\))?[^()]*\)", "", formula, count=1)
    if cut == formula:
        cut = re.sub(r"(?:at::)?where\([^,]+, ([^,()]*(?:\([^()]*\))?[^,()]*), [^,]+\)$", r"\1", formula, count=1)
    return cut if cut != formula else None


def tangent(formula: str, key: str, names: list[str], random: Random) -> str | None:
    used = [name for name in names if re.search(rf"\b{name}_t\b", formula)]
    if len(used) < 2:
        return None
    name = random.choice(used)
    return re.sub(rf"\b{name}_t\b", f"at::zeros_like({name}_t)", formula)


def detach(formula: str, key: str, names: list[str], random: Random) -> str | None:
    tensors = [name for name in (*names, "result") if re.search(rf"\b{name}\b(?![.(])", formula)]
    if _forward(key) or not tensors or "not_implemented" in formula:
        return None
    return re.sub(rf"\b{tensors[0]}\b(?![.(])", f"{tensors[0]}.detach()", formula)


def scalar_type(formula: str, key: str, names: list[str], random: Random) -> str | None:
    match = re.search(r"\b(\w+)\.scalar_type\(\)", formula)
    others = [name for name in names if match and name != match[1]]
    if match is None or not others:
        return None
    return formula.replace(match[0], f"{others[0]}.scalar_type()", 1)


KINDS: dict[str, Mutate] = {
    "sign": lambda formula, *_: None if "auto_" in formula else f"-({formula})",
    "factor": lambda formula, *_: None if "auto_" in formula else f"({formula}) * 2",
    "missing conj": lambda formula, *_: formula.replace(".conj()", "", 1) if ".conj()" in formula else None,
    "wrong argument": argument,
    "forgotten term": term,
    "wrong branch": branch,
    "lost mask": mask,
    "dropped tangent": tangent,
    "detached": detach,
    "wrong scalar type": scalar_type,
}


_MISSED, _UNCHECKED, _NOTHING = "missed", "unchecked", "changes nothing"
_BACKWARD = ("wrong argument", "wrong scalar type", "detached")  # kinds of backward formulas alone


def _terms(formula: str) -> list[str]:
    """The summands of a formula; itself alone if it is no sum."""
    depth, parts, start = 0, [], 0
    for i, character in enumerate(formula):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and formula[i : i + 3] == " + ":
            parts.append(formula[start:i])
            start = i + 3
    return [*parts, formula[start:]] if "?" not in formula and not formula.startswith("auto_") else [formula]


def mutations(definitions: Definitions, count: int, random: Random) -> Iterator[Mutation]:
    """Wrong formulas in that many definitions, which are changed. Rare kinds come first where they are possible."""
    order = list(range(len(definitions)))
    random.shuffle(order)
    made: Counter[str] = Counter()
    for at in order:
        if count == 0:
            return
        definition = definitions[at]
        names = _TYPES.findall(
            definition["name"].partition("->")[0].replace("(a!)", "").replace("(a)", "").replace("?", "")
        )
        possible = list(_possible(definition, names, random))
        if not possible:
            continue
        chosen = min(possible, key=lambda each: (made[each.kind], random.random()))
        made[chosen.kind] += 1
        definition[chosen.key] = chosen.after
        count -= 1
        yield chosen


def _possible(definition: dict[str, Any], names: list[str], random: Random) -> Iterator[Mutation]:
    for key, formula in definition.items():
        if key in _KEYS or not isinstance(formula, str) or "non_differentiable" in formula or "not_impl" in formula:
            continue
        for kind, mutate in KINDS.items():
            if (kind == "dropped tangent") > _forward(key) or (kind in _BACKWARD and _forward(key)):
                continue
            after = mutate(formula, key, names, random)
            if after is not None and after != formula and "(, " not in after:
                yield Mutation(kind, definition["name"], key, formula, after)


def of_release(version: str, own: Definitions, wheels: Path) -> Iterator[Mutation]:
    """The formulas that another release has in place of the installed torch's."""
    with ZipFile(find_wheel(version, wheels) or download(version, wheels)) as archive:
        others = load(archive.read("torchgen/packaged/autograd/derivatives.yaml"))
    by_name = {each["name"]: each for each in own}
    for other in (each for each in others if each["name"] in by_name):
        before = by_name[other["name"]]
        for key in (each for each in other if each not in _KEYS and other[each] != before.get(each)):
            yield Mutation(version, other["name"], key, str(before.get(key, "non_differentiable")), str(other[key]))


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, 300)
    parser.add_argument("--only", nargs="*", default=[], help="names of operators")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--releases", nargs="+", default=[], metavar="VERSION", help="formulas of these instead")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    wanted, begin, status = parser.parse_args(words), time.monotonic(), 0
    if wanted.releases:
        return _of_releases(wanted)
    for number, first in enumerate(range(0, wanted.count, _AT_ONCE)):
        if time.monotonic() - begin > wanted.minutes * 60:
            print("the time is over")
            break
        print(f"seed {wanted.seed + number}")
        definitions = installed()
        chosen = [each for each in definitions if not wanted.only or operator(each["name"]) in wanted.only]
        count = min(wanted.count - first, _AT_ONCE)
        made = list(mutations(chosen, count, Random(wanted.seed + number)))
        status = max(status, _batch(wanted, made, definitions, (_MISSED, _NOTHING, _UNCHECKED)))
    return status


def _of_releases(wanted: argparse.Namespace) -> int:
    """What becomes of other formulas that torch has or had. A batch has one of each definition."""
    rest = [each for version in wanted.releases for each in of_release(version, installed(), wanted.wheels.resolve())]
    rest = [each for each in rest if not wanted.only or operator(each.definition) in wanted.only]
    while rest:
        now = {each.definition: each for each in reversed(rest)}
        rest = [each for each in rest if now[each.definition] is not each]
        definitions = installed()
        for definition in definitions:
            if definition["name"] in now:
                definition[now[definition["name"]].key] = now[definition["name"]].after
        if _batch(wanted, [*now.values()], definitions) == _NO_REPORT:
            return _NO_REPORT
    return 0


def _batch(
    wanted: argparse.Namespace, made: list[Mutation], definitions: Definitions, shown: tuple[str, ...] = ()
) -> int:
    """Verifies formulas that are in the definitions, and prints those with a status that is `shown`, or all. The exit
    status: 1 if too many are not reported."""
    try:
        refused = _refused(made, definitions, wanted.cache)
        names = [operator(each.definition) for each in made if operator(each.definition) not in refused]
        rows = verify(definitions, names, wanted.cache)
    except Failed as error:
        print(error)
        return _NO_REPORT
    tried = [each for each in made if operator(each.definition) not in refused]
    return _report(tried, rows, wanted.cache / "samples", shown)


def _refused(made: list[Mutation], definitions: Definitions, cache: Path) -> set[str]:
    """The operators whose wrong formulas are errors of the specs, which are made right again."""
    by_name = {definition["name"]: definition for definition in definitions}
    refused: set[str] = set()
    while errors := rejected(definitions, cache):
        for mutation in made:
            if operator(mutation.definition) in errors:
                by_name[mutation.definition][mutation.key] = mutation.before
                print(f"refused: {mutation.kind}: {operator(mutation.definition)}: {mutation.after}")
        refused |= errors.keys()
    print(f"{len(refused)} are refused without a run")
    return refused


def _report(made: list[Mutation], rows: dict[str, Any], samples: Path, shown: tuple[str, ...]) -> int:
    counts: Counter[tuple[str, str]] = Counter()
    for mutation in made:
        status, reason = _status(mutation, rows.get(operator(mutation.definition)), samples)
        counts[mutation.kind, status] += 1
        if not shown or status in shown:
            name = operator(mutation.definition)
            print(
                f"{status}: {mutation.kind}: {name}: {mutation.key}: {mutation.before}  ->  {mutation.after} {reason}"
            )
    for (kind, status), count in sorted(counts.items()):
        print(f"{kind:20} {status:18} {count}")
    total = Counter(status for (_, status), count in counts.items() for _ in range(count))
    missed, unchecked, nothing = total[_MISSED], total[_UNCHECKED], total[_NOTHING]
    found = len(made) - missed - unchecked - nothing
    print(f"{found} of {found + missed} reported; {unchecked} are not checked, {nothing} change nothing")
    return int(missed > 0.05 * (found + missed))


def _status(mutation: Mutation, row: dict[str, Any] | None, samples: Path) -> tuple[str, str]:
    """What became of a wrong formula, and the reason if it was not reported."""
    if row is None:
        return _MISSED, "(no Node)"
    if row["status"] != "verified":
        compiles = "does not compile" not in row["reason"]
        status = row["status"] if compiles else "does not compile"
        return (_UNCHECKED if status == "unchecked" else status), f"({row['reason']})"
    if not row["checks"].get("tangents" if _forward(mutation.key) else "gradient"):
        return _UNCHECKED, f"({', '.join(row['skipped']) or 'no such formula is checked'})"
    why = _why_nothing(mutation, samples)
    return (_NOTHING, f"({why})") if why else (_MISSED, "")


def _why_nothing(mutation: Mutation, samples: Path) -> str:
    """Why a mutation changes no value; "" if it may."""
    effects, key = Effects(mutation.definition, samples), mutation.key
    forward = _forward(key)
    match mutation.kind:
        case "sign" | "factor":
            return effects.why_none_of_a_factor(key, forward=forward)
        case "missing conj":
            return effects.why_none_of_conj()
        case "detached":
            return effects.why_none_of_detach(key, mutation.after.partition(".detach()")[0].split("(")[-1].split()[-1])
        case "dropped tangent":
            return effects.why_none_of_a_tangent(mutation.after.partition("zeros_like(")[2].partition("_t)")[0])
    return ""
